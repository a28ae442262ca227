"""What a program asks about its own objects: types, attributes by name, `super`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.knowledge import api
from xla_lint.program.backend import has_releases
from xla_lint.program.domain.join import join
from xla_lint.program.domain.objects import Super, any_of, as_container, fields_of
from xla_lint.program.domain.values import (
    FACT,
    NONE,
    NUMBER,
    UNKNOWN,
    Instance,
    Location,
    Mapping,
    Name,
    Number,
    Sequence,
    Tensor,
    Text,
    Value,
    options,
)
from xla_lint.program.library.registry import function
from xla_lint.program.syntax.names import canonical, is_foreign

if TYPE_CHECKING:
    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine

KINDS = frozenset({"builtins.dict", "builtins.tuple", "builtins.str"})
"""Types that are told apart for sure."""


TYPE_OF_UNKNOWN = "builtins.type.unknown"
"""The type of what is not known."""


def is_for_other_devices(kind: str) -> bool:
    """Whether a class wraps models that no XLA device holds: torch_xla has an FSDP of its own."""
    return kind.startswith("torch.distributed.fsdp.")


@function("builtins.isinstance")
def is_instance(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A test on a type reads nothing, and is known for tensors."""
    value, kinds = arguments.get(0), arguments.get(1)
    names = [k.dotted for k in (kinds.items or [] if isinstance(kinds, Sequence) else [kinds]) if isinstance(k, Name)]
    if (
        isinstance(value, Instance)
        and value.place is Location.DEVICE
        and names
        and all(map(is_for_other_devices, names))
    ):
        return Number(False, traits=FACT)
    if "torch.Tensor" in names:
        if isinstance(value, Tensor):
            return Number(True)
        if isinstance(value, (Number, Text, Sequence, Mapping)) and names == ["torch.Tensor"]:
            return Number(False)
    if isinstance(value, Tensor) and names and all(name.startswith("builtins.") for name in names):
        return Number(False)
    kind = kind_of(value)
    if kind in names:
        return Number(True)
    if kind and names and set(names) <= KINDS:
        return Number(False)
    return NUMBER


def kind_of(value: Value | None) -> str:
    """The type of a container or a string; empty for all others. What may be a list or a set counts as a list."""
    value = as_container(value)
    if isinstance(value, Sequence):
        return "builtins.tuple" if value.frozen else "builtins.list"
    if isinstance(value, Mapping):
        return "builtins.dict"
    return "builtins.str" if isinstance(value, Text) else ""


@function("builtins.getattr")
def get_attribute(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """An attribute by its name, where the source says the name."""
    owner, name = arguments.get(0), arguments.get(1)
    if owner is not None and isinstance(name, Text) and name.const is not None:
        found = machine.attribute(owner, name.const, arguments.node)
        default = arguments.get(2)
        return found if default is None or found is UNKNOWN else join(found, default)
    fields = fields_of(owner, of_any=True) if owner is not None else None
    return any_of(fields.items) if fields is not None and fields.items else UNKNOWN


def replace_any(machine: Machine, holder: Instance, model: Instance) -> None:
    """Let a model stand in the place of any one inside another."""
    for name, held in list(holder.attributes.items()):
        if any(isinstance(option, Instance) and option.model for option in options(held)):
            machine.heap.put(holder.attributes, name, join(held, model))


@function("builtins.setattr")
def set_attribute(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Set an attribute by its name. A model under a name that is not known may replace any model inside the owner."""
    owner, name, value = arguments.get(0), arguments.get(1), arguments.get(2)
    if owner is not None and value is not None and isinstance(name, Text) and name.const is not None:
        machine.set_attribute(owner, name.const, value)
    elif isinstance(value, Instance) and value.model:
        for holder in options(owner or UNKNOWN):
            if isinstance(holder, Instance):
                replace_any(machine, holder, value)
    return NONE


@function("builtins.super")
def parent(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """The next class in line."""
    owner = machine.at.frame.owner
    function_ = machine.at.frame.function
    receiver = function_.receiver if function_ is not None else None
    if owner is None or receiver is None:
        return UNKNOWN
    return Super(owner, receiver)


@function("builtins.hasattr")
def has_attribute(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Whether a module of a backend has a name, which its releases tell."""
    owner, name = arguments.get(0), arguments.get(1)
    if not (isinstance(owner, Name) and isinstance(name, Text) and name.const) or not has_releases(owner.dotted):
        return NUMBER
    known = api.exists(f"{owner.dotted}.{name.const}", machine.target)
    return NUMBER if known is None else Number(known, traits=FACT)


@function("builtins.id", "builtins.hash", "builtins.callable", "builtins.issubclass")
def metadata(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """What is known of an object without running anything."""
    return NUMBER


@function("importlib.util.find_spec")
def find_spec(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """What tells whether a package is installed: that of the program's own backend is, and another one's is not."""
    name = arguments.get(0, "name")
    package = (name.const or "").partition(".")[0] if isinstance(name, Text) else ""
    if package in machine.aim.absent:
        return NONE
    asked = package == machine.backend.name
    return Instance(None, "importlib.machinery.ModuleSpec", node=arguments.node) if asked else UNKNOWN


@function("importlib.import_module")
def import_module(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A module of a library by its name."""
    name = arguments.get(0, "name")
    known = isinstance(name, Text) and name.const and is_foreign(name.const)
    return Name(canonical(name.const)) if known and isinstance(name, Text) and name.const else UNKNOWN


@function("builtins.type")
def type_of(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """The type of an object: to call it makes another one of its kind. What it is called for is not known otherwise."""
    value = arguments.get(0)
    if isinstance(value, Instance) and value.cls is not None:
        return value.cls
    if isinstance(value, Sequence):
        return Name("builtins.tuple" if value.frozen else "builtins.list")
    return Name(kind_of(value) or TYPE_OF_UNKNOWN)


@function(TYPE_OF_UNKNOWN)
def make_unknown(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """An object of a type that is not known; nothing else happens."""
    return UNKNOWN
