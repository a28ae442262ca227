"""Models that a class method of their library makes: `from_pretrained`, `load_from_checkpoint`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.definitions import Class, Function
from xla_lint.program.domain.module_classes import is_module_class
from xla_lint.program.domain.objects import is_model, member_of
from xla_lint.program.domain.values import UNKNOWN, Instance, Value
from xla_lint.program.library.registry import function, methods
from xla_lint.program.machine.arguments import Arguments

if TYPE_CHECKING:
    from xla_lint.program.machine.machine import Machine

BY_CONFIGURATION = frozenset({"from_pretrained", "from_config", "_from_config"})
"""The class methods that give the constructor a configuration first (transformers 5.24, diffusers 0.38)."""
BUILDERS = BY_CONFIGURATION | {"load_from_checkpoint"}


@function("diffusers.")
def build_diffusers(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A model of diffusers, by its class or its `from_pretrained`; of its other objects no more is known."""
    owner, _, last = dotted.rpartition(".")
    built = owner if last in BUILDERS else dotted
    if is_module_class(built):
        return Instance(None, built, model=True, node=arguments.node)
    machine.hand_over(arguments)
    return UNKNOWN


@methods(Class, *BUILDERS)
def build(machine: Machine, receiver: Class, name: str, arguments: Arguments) -> Value | None:
    """A model of the class, made with what is kept of another one and with the keywords that it takes."""
    if not is_model(receiver):
        return None
    init = member_of(receiver, "__init__")
    taken = {a.name for a in init.node.args.arguments} if isinstance(init, Function) else set()
    first: list[Value] = []
    if name in BY_CONFIGURATION:
        given = arguments.keywords.get("config") or (arguments.get(0) if name != "from_pretrained" else None)
        first = [given or Instance(None, "transformers.PretrainedConfig", node=arguments.node)]
        taken -= {"config"}
    keywords = {key: value for key, value in arguments.keywords.items() if key in taken}
    return machine.call(receiver, Arguments(arguments.node, first, keywords, unpacked=True))
