"""What attributes of each kind of value are."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from xla_lint.knowledge.operations import METADATA_ATTRIBUTES, MODULE_METHODS
from xla_lint.program.backend import DEVICE_TYPES, package_of
from xla_lint.program.domain.definitions import Class, Function, Member, Method
from xla_lint.program.domain.join import join_all
from xla_lint.program.domain.loaders import Loader
from xla_lint.program.domain.longest import LongestRow
from xla_lint.program.domain.objects import (
    AUTOGRAD_FUNCTION,
    ITEMS,
    OPEN,
    Super,
    bound_to,
    is_enumeration,
    is_open,
    items_of,
    library_base,
    lineage,
    member_of,
)
from xla_lint.program.domain.values import (
    FACT,
    NO_TENSOR,
    NONE,
    NUMBER,
    SHAPE,
    TEXT,
    UNKNOWN,
    Choice,
    Device,
    Instance,
    Kind,
    Location,
    Mapping,
    Name,
    Number,
    Sequence,
    Tensor,
    Text,
    as_setting,
    options,
)
from xla_lint.program.interpreter.names import note_name, resolve_use
from xla_lint.program.library.devices import type_of
from xla_lint.program.library.dispatch import attribute_of
from xla_lint.program.library.optimizers import gradient_of
from xla_lint.program.library.pretrained import BUILDERS
from xla_lint.program.machine.arguments import Arguments
from xla_lint.program.machine.meanings import attributes_of
from xla_lint.program.syntax.names import canonical

if TYPE_CHECKING:
    from collections.abc import Iterator

    from astroid import nodes

    from xla_lint.program.domain.values import Value
    from xla_lint.program.machine.machine import Machine


TYPE_TEST = "is_"
"""How the attributes of tensors begin that tell the type of their device: `is_cuda`."""
TYPE_TESTS = frozenset(TYPE_TEST + device for device in (*DEVICE_TYPES, "cuda"))
BATCH_METHODS = frozenset(
    "char_to_token char_to_word convert_to_tensors data encodings is_fast n_sequences sequence_ids to token_to_chars "
    "token_to_sequence token_to_word tokens word_ids word_to_chars word_to_tokens words".split()
)
"""What a tokenizer's batch has besides its items (`dir(BatchEncoding)`, transformers 5.24)."""
VIEWS = frozenset({"T", "mT", "H", "mH", "real", "imag"})


@attributes_of(Name)
def name_attribute(machine: Machine, value: Name, name: str, node: nodes.NodeNG) -> Value:
    """A name of a library, or a module inside; what the program has set there, as on the flags of absl."""
    dotted = f"{value.dotted}.{name}"
    named = name_of(dotted)
    if package_of(dotted) is not None:
        note_name(machine, node, named.dotted)
    return machine.set_on_names.get(dotted) or named


@lru_cache(maxsize=4096)
def name_of(dotted: str) -> Name:
    """Something outside the project; equal names are one object."""
    return Name(canonical(dotted))


@attributes_of(Choice)
def choice_attribute(machine: Machine, value: Choice, name: str, node: nodes.NodeNG) -> Value:
    """The attribute of each alternative; of several devices, of the lazy one."""
    on_xla = [o for o in value.options if isinstance(o, Device) and o.place is Location.DEVICE]
    return join_all(machine.attribute(o, name, node) for o in on_xla or value.options if o is not NONE)


@attributes_of(type(NO_TENSOR))
def attribute_of_other(_: Machine, value: Value, __: str, ___: nodes.NodeNG) -> Value:
    """A part of what is no tensor is not taken for one either."""
    return value


@attributes_of(LongestRow)
def attribute_of_row(_: Machine, value: LongestRow, name: str, __: nodes.NodeNG) -> Value:
    """The sizes of the longest row, or a part of it that a record names."""
    return Sequence(None, SHAPE, True) if name == "shape" else value


@attributes_of(Class)
def class_attribute(_: Machine, value: Class, name: str, __: nodes.NodeNG) -> Value:
    """A member of a class."""
    member = member_of(value, name)
    if isinstance(member, Function) and member.bound_class:
        return bound_to(member, value)
    if member is not None and name in value.members and is_enumeration(value, member):
        return Member(value.node, name, value, member)
    if member is None and (library_base(value) == AUTOGRAD_FUNCTION or name in BUILDERS):
        return Method(value, name)
    return member if member is not None else UNKNOWN


@attributes_of(Device)
def device_attribute(machine: Machine, value: Device, name: str, __: nodes.NodeNG) -> Value:
    """The type of a device, or its index."""
    return Text(type_of(machine, value.place), fact=True) if name == "type" else NUMBER


@attributes_of(Loader)
def loader_attribute(_: Machine, value: Loader, name: str, __: nodes.NodeNG) -> Value | None:
    """What a loader was built with."""
    if name in ("dataset", "sampler", "batch_sampler"):
        return (value.host.sampler if name == "sampler" else None) or UNKNOWN
    return (value.host.batch_size or UNKNOWN) if name == "batch_size" else None


@attributes_of(Mapping)
def mapping_attribute(_: Machine, value: Mapping, name: str, __: nodes.NodeNG) -> Value | None:
    """An item of a dict that takes attributes for items, as a tokenizer's batch does; None for its methods."""
    if name in BATCH_METHODS or hasattr(dict, name):
        return None
    return value.entries.get(name) or (value.element if isinstance(value.element, Tensor) else None)


@attributes_of(Function)
def function_attribute(_: Machine, __: Function, name: str, ___: nodes.NodeNG) -> Value:
    """A function's name or text."""
    return TEXT if name in ("__name__", "__doc__", "__qualname__") else UNKNOWN


@attributes_of(Text, Number)
def plain_attribute(_: Machine, value: Text | Number, name: str, __: nodes.NodeNG) -> Value | None:
    """The value of a member of a plain enumeration."""
    return value if name == "value" else None


@attributes_of(Member)
def member_attribute(machine: Machine, value: Member, name: str, node: nodes.NodeNG) -> Value:
    """An attribute of a member of an enumeration."""
    if name == "value":
        return value.value
    if name == "name":
        return Text(value.name)
    member = member_of(value.cls, name)
    return method_of(machine, value, value.cls, member, node) if isinstance(member, Function) else UNKNOWN


def method_of(machine: Machine, value: Value, cls: Class | None, member: Function, node: nodes.NodeNG) -> Value:
    """A function of an object's class as the object's attribute; of a property, what it gives."""
    if member.getter:
        return machine.call_function(bound_to(member, value), Arguments(node, []))
    return member if member.static else bound_to(member, cls if member.bound_class and cls else value)


@attributes_of(Instance)
def instance_attribute(machine: Machine, value: Instance, name: str, node: nodes.NodeNG) -> Value:
    found = value.attributes.get(name)
    if found is not None:
        return found
    if name == "__dict__" and value.cls is not None:
        return Mapping(value.attributes)
    member = member_of(value.cls, name)
    if isinstance(member, Function):
        return method_of(machine, value, value.cls, member, node)
    if member is not None:
        return member
    known = attribute_of(machine, value, name, node)
    if known is not None:
        return known
    if is_open(value) and not hasattr(dict, name):
        return UNKNOWN
    getter = None if is_inherited(value, name) else member_of(value.cls, "__getattr__")
    if isinstance(getter, Function):
        return machine.call_function(bound_to(getter, value), Arguments(node, [Text(name)]))
    if isinstance(getter, Name) and ITEMS in value.attributes:
        return machine.method(value, "__getitem__", Arguments(node, [Text(name)]))
    if value.library or value.cls is None or not all(isinstance(b, Class) for b in value.cls.bases):
        return Method(value, name)
    return UNKNOWN


def is_inherited(value: Instance, name: str) -> bool:
    """Whether a class gets an attribute from torch or from Python's containers, so that `__getattr__` is not asked."""
    if value.model:
        return name in MODULE_METHODS
    items = items_of(value)
    return items is not None and hasattr(dict if isinstance(items, Mapping) else list, name)


@attributes_of(Tensor)
def tensor_attribute(machine: Machine, value: Tensor, name: str, node: nodes.NodeNG) -> Value:
    if name == "shape":
        return Sequence(None, SHAPE, True)
    if name == "device":
        return Device(value.place, value.certain)
    if name in TYPE_TESTS and value.place is Location.DEVICE:
        return Number(name == TYPE_TEST + (type_of(machine, value.place) or ""), traits=FACT)
    if name in METADATA_ATTRIBUTES:
        return SHAPE
    if name == "grad":
        computed = machine.graded if machine.graded is not None else max(machine.here.epochs)
        recorded_in = computed if value.place is Location.DEVICE else value.recorded_in
        return value.like(grad=False, recorded_in=recorded_in, line=int(node.lineno or 0), origins=gradient_of(value))
    if name == "data":
        return value.alias(grad=False)
    if name in VIEWS:
        return machine.derived(node, [value], kind=value.kind)
    if value.undecided:
        return UNKNOWN
    if value.unstructured or name in ("values", "indices"):
        kind = Kind.INT if name == "indices" else Kind.UNKNOWN
        return value.like(length=None, kind=kind)
    return Method(value, name)


@attributes_of(Super)
def super_attribute(_: Machine, value: Super, name: str, __: nodes.NodeNG) -> Value:
    cls = value.receiver.cls if isinstance(value.receiver, Instance) else value.receiver
    order = lineage(cls) if isinstance(cls, Class) else []
    after = order[order.index(value.owner) + 1 :] if value.owner in order else lineage(value.owner)[1:]
    for base in after:
        member = base.members.get(name) if isinstance(base, Class) else None
        if isinstance(member, Function):
            return bound_to(member, value.receiver)
    return Method(value.receiver, name)


def set_attribute(machine: Machine, owner: Value, name: str, value: Value) -> None:
    """Set an attribute of an object."""
    for option in options(owner):
        if isinstance(option, Instance):
            if ITEMS in option.attributes and set_as_item(machine, option, name, value):
                continue
            if isinstance(value, (Tensor, Choice)):
                scope = (
                    machine.at.frame.owner.node
                    if machine.at.frame.owner is not None
                    else (machine.at.frame.node or machine.module)
                )
                value = resolve_use(machine, value, f"self.{name}", scope)
            if isinstance(value, Number) and option.cls is not None and is_counted(machine, option.cls, name):
                value = Number(None, value.loops | frozenset(machine.at.loops), value.traits)
            machine.heap.put(option.attributes, name, as_setting(value))
        elif isinstance(option, Name):
            machine.heap.put(machine.set_on_names, f"{option.dotted}.{name}", as_setting(value))


def set_as_item(machine: Machine, owner: Instance, name: str, value: Value) -> bool:
    """Set an attribute of a dict whose class keeps attributes as items; False where the attribute is to be set too."""
    if name == "__dict__" and value is owner:
        items = items_of(owner)
        for key, item in items.entries.items() if isinstance(items, Mapping) else ():
            machine.heap.put(owner.attributes, key, item)
        machine.heap.put(owner.attributes, ITEMS, NONE)
        machine.heap.assign(owner, "library", OPEN)
        return True
    setter = member_of(owner.cls, "__setattr__")
    given = Arguments(owner.node or machine.module, [Text(name), value])
    if isinstance(setter, Function):
        machine.call_function(bound_to(setter, owner), given)
    elif isinstance(setter, Name):
        machine.method(owner, "__setitem__", given)
    return isinstance(setter, Name)


def is_counted(machine: Machine, cls: Class, name: str) -> bool:
    """Whether a method that may be called, of a class or of its bases, counts an attribute up or down."""
    return any(may_be_called(machine, cls, method) for method in counting(cls, name))


def counting(cls: Class, name: str) -> Iterator[str]:
    """The names of the methods of a class and of its bases that count an attribute."""
    for base in lineage(cls):
        if isinstance(base, Class) and base.frame.index is not None:
            yield from base.frame.index.counted(base.node).get(name, ())


def may_be_called(machine: Machine, cls: Class, method: str) -> bool:
    """Whether something calls a method of a class: a module of the program names it, a library or Python calls it."""
    if machine.without_caller or library_base(cls) or (method.startswith("__") and method != "__init__"):
        return True
    indexes = (frame.index for frame in (cls.frame, machine.globals, *machine.modules.values()))
    return any(method in index.attributes for index in indexes if index is not None)
