"""Objects with fields: copies, named tuples, data classes, namespaces."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from xla_lint.program.domain.definitions import Class
from xla_lint.program.domain.objects import NAMED_TUPLE, fields_of, is_open
from xla_lint.program.domain.values import UNKNOWN, Instance, Mapping, Name, Sequence, Text, Value
from xla_lint.program.library.registry import function, methods

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine


FIELD = "dataclasses.Field"
"""The description of a field."""


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
    return Class(arguments.node, machine.at.frame, [Name(NAMED_TUPLE)], {}, fields)


@function("dataclasses.field")
def field(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A dataclass field's default."""
    default = arguments.keywords.get("default")
    return default if default is not None else Instance(None, "dataclasses.field", dict(arguments.keywords))


def copied_fields(value: Value, depth: int = 4) -> Value:
    """A value as `asdict` and `astuple` copy it: the objects with fields that it holds become dicts."""
    fields = fields_of(value, of_any=True)
    if fields is None or depth == 0 or not isinstance(value, Instance) or value.cls is None:
        return value
    items = [copied_fields(item, depth - 1) for item in fields.items or ()]
    return Mapping(dict(zip(value.cls.fields or (), items, strict=True)))


@function("dataclasses.asdict", "dataclasses.astuple", "attr.asdict", "attr.astuple")
def as_container(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """The fields of an object as a dict or as a tuple."""
    made = copied_fields(arguments.get(0) or UNKNOWN)
    if not isinstance(made, Mapping):
        return UNKNOWN
    return made if dotted.endswith("asdict") else Sequence(list(made.entries.values()), UNKNOWN, True)


@function("dataclasses.fields", "attr.fields")
def list_fields(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """The fields of a dataclass or of an object of one, each with its name."""
    value = arguments.get(0)
    cls = value.cls if isinstance(value, Instance) else value
    if not isinstance(cls, Class) or cls.fields is None:
        return UNKNOWN
    return Sequence([Instance(None, FIELD, {"name": Text(name)}) for name in cls.fields], UNKNOWN, True)


@methods(NAMED_TUPLE, "_asdict", "_replace")
def tuple_method(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """A named tuple as a dict, or another one with some fields changed."""
    return copied_fields(receiver) if name == "_asdict" else with_changes(receiver, arguments)


@function("builtins.vars")
def attributes_as_dict(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """The attributes of an object: what is set there is set on the object."""
    value = arguments.get(0)
    if not isinstance(value, Instance) or value.model:
        return UNKNOWN
    return Mapping(value.attributes, UNKNOWN if is_open(value) else None)


def with_changes(value: Instance, arguments: Arguments) -> Instance:
    """An object like another one, but for the attributes that keywords name."""
    changes = {name: item for name, item in arguments.keywords.items() if name != "**"}
    return replace(value, attributes={**value.attributes, **changes}, node=arguments.node)


@function("dataclasses.replace", "copy.replace")
def replaced(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """An object like another one, but for some attributes."""
    value = arguments.get(0)
    return with_changes(value, arguments) if isinstance(value, Instance) else UNKNOWN
