"""What differs between replicas by its very name: ranks and ordinals, as libraries and launchers spell them."""

from __future__ import annotations

from xla_lint.program.backend import BACKENDS
from xla_lint.program.domain.definitions import Method
from xla_lint.program.domain.values import UNKNOWN, Instance, Name, Number, Text, Trait, Value

RANK = Number(traits=frozenset({Trait.RANK}))
"""A number that differs between replicas."""
ENVIRONMENT = "os.environ"
VARIABLES = frozenset({"RANK", "LOCAL_RANK", "GROUP_RANK", "ROLE_RANK"}).union(
    *(backend.rank_variables for backend in BACKENDS)
)
"""The environment variables in which torchrun (torch 2.9.1) and the backends tell a process its rank."""


def environment_value(key: Value) -> Value:
    """What is known of an environment variable."""
    return RANK if isinstance(key, Text) and key.const in VARIABLES else UNKNOWN


ONE_RANK = frozenset({"rank_zero_only", "on_main_process", "on_local_main_process", "on_last_process", "on_process"})
"""The decorators of Lightning and Accelerate whose functions do nothing on the other replicas."""
OFFERING = ("lightning", "accelerate.")
"""How the libraries are called that offer them."""


def limits_to_one(decorator: Value) -> bool:
    """Whether the functions that are decorated with a value run on one replica only."""
    if isinstance(decorator, Name):
        package, _, name = decorator.dotted.rpartition(".")
        return name in ONE_RANK and package.startswith(OFFERING)
    return (
        isinstance(decorator, Method)
        and decorator.name in ONE_RANK
        and isinstance(decorator.receiver, Instance)
        and decorator.receiver.library.startswith(OFFERING)
    )
