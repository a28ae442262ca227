"""What differs between replicas by its very name: ranks and ordinals, as libraries and launchers spell them."""

from __future__ import annotations

from xla_lint.program.values import UNKNOWN, Number, Text, Trait, Value

RANK = Number(traits=frozenset({Trait.RANK}))
"""A number that differs between replicas."""
ENVIRONMENT = "os.environ"
VARIABLES = frozenset({"RANK", "LOCAL_RANK", "GROUP_RANK", "ROLE_RANK", "PJRT_LOCAL_PROCESS_RANK"})
"""The environment variables in which torchrun and torch_xla tell a process its rank (torch 2.9.1, torch_xla 2.9.0)."""


def environment_value(key: Value) -> Value:
    """What is known of an environment variable."""
    return RANK if isinstance(key, Text) and key.const in VARIABLES else UNKNOWN
