"""Objects with fields: copies, named tuples, data classes, namespaces."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from xla_lint.program.domain.definitions import Class
from xla_lint.program.domain.values import UNKNOWN, Instance, Sequence, Text, Value
from xla_lint.program.library.registry import function

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine


@function("copy.copy", "copy.deepcopy")
def duplicate(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A copy is another object of the same kind; a deep one has modules of its own."""
    value = arguments.get(0)
    if isinstance(value, Instance):
        return copied(value, arguments.node, 4 if dotted == "copy.deepcopy" else 0)
    return value if value is not None else UNKNOWN


def copied(value: Instance, node: nodes.NodeNG, depth: int) -> Instance:
    """A copy of an object, and of the modules inside it, to a depth."""
    attributes = {
        name: copied(item, node, depth - 1) if depth and isinstance(item, Instance) and item.model else item
        for name, item in value.attributes.items()
    }
    return Instance(value.cls, value.library, attributes, value.place, value.model, value.certain, node)


@function("collections.namedtuple")
def named_tuple(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A class with fields."""
    spec = arguments.get(1, "field_names")
    fields: list[str] = []
    if isinstance(spec, Text) and spec.const is not None:
        fields = spec.const.replace(",", " ").split()
    elif isinstance(spec, Sequence) and spec.items is not None:
        fields = [item.const for item in spec.items if isinstance(item, Text) and item.const is not None]
    return Class(arguments.node, machine.at.frame, [], {}, fields)


@function("dataclasses.field")
def field(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A dataclass field's default."""
    default = arguments.keywords.get("default")
    return default if default is not None else Instance(None, "dataclasses.field", dict(arguments.keywords))


@function("dataclasses.replace", "copy.replace")
def replaced(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """An object like another one, but for some attributes."""
    value = arguments.get(0)
    if not isinstance(value, Instance):
        return UNKNOWN
    changes = {name: item for name, item in arguments.keywords.items() if name != "**"}
    return replace(value, attributes={**value.attributes, **changes}, node=arguments.node)
