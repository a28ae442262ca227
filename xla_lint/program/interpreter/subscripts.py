"""Subscripts: items, slices, and what an index of a device tensor costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.being import narrowed
from xla_lint.program.domain.definitions import Function
from xla_lint.program.domain.events import DataShape, How, RankIndex
from xla_lint.program.domain.join import element_of, join_all
from xla_lint.program.domain.locations import device_tensors
from xla_lint.program.domain.longest import LONGEST_ROW
from xla_lint.program.domain.objects import (
    any_of,
    bound_to,
    differs_between_replicas,
    fields_of,
    is_open,
    items_of,
    key_of,
    member_of,
)
from xla_lint.program.domain.ranks import ENVIRONMENT, environment_value
from xla_lint.program.domain.values import (
    NO_TENSOR,
    NONE,
    SHAPE,
    TEXT,
    UNKNOWN,
    Instance,
    Kind,
    Location,
    Mapping,
    Name,
    Number,
    Sequence,
    Tensor,
    Text,
    Trait,
    Value,
    options,
)
from xla_lint.program.interpreter.records import turning
from xla_lint.program.library.datasets import split_of
from xla_lint.program.library.longest_rows import longest_of, size_of_longest
from xla_lint.program.machine.arguments import Arguments
from xla_lint.program.machine.costs import report_changing
from xla_lint.program.machine.meanings import expression

if TYPE_CHECKING:
    from typing import Any

    from xla_lint.program.machine.machine import Machine


LISTS = frozenset({"torch.nn.ModuleList", "torch.nn.Sequential", "torch.nn.ParameterList"})
"""Modules that are indexed by a number: a tensor as the index is read."""


class Slice(Value):
    """A slice that is used as an index."""

    __slots__ = ("parts",)

    def __init__(self, parts: list[Value]) -> None:
        self.parts = parts


@expression(nodes.Subscript)
def subscript_read(machine: Machine, node: nodes.Subscript) -> Value:
    if isinstance(node.value, nodes.Attribute) and node.value.attrname == "shape":
        owner = machine.evaluate(node.value.expr)
        if isinstance(owner, Tensor) and isinstance(node.slice, nodes.Const) and node.slice.value == 0:
            return Number(owner.length, traits=frozenset({Trait.SHAPE}))
        if owner is UNKNOWN:
            return SHAPE
        if owner is LONGEST_ROW:
            return size_of_longest(machine.evaluate(node.slice))
        value = machine.attribute(owner, "shape", node.value)
    else:
        value = machine.evaluate(node.value)
    if isinstance(node.slice, nodes.Slice):
        index: Value = slice_(machine, node.slice)
    else:
        index = machine.evaluate(node.slice)
    if any(differs_between_replicas(part) for part in (index.parts if isinstance(index, Slice) else [index])):
        machine.emit(RankIndex(node, machine.context))
    results = [subscript(machine, node, option, index, node.slice) for option in options(value) if option is not NONE]
    being = machine.narrowed.get(node)
    return join_all(results) if being is None else narrowed(join_all(results), being)


@expression(nodes.Slice)
def slice_(machine: Machine, node: nodes.Slice) -> Value:
    parts = [machine.evaluate(part) if part is not None else NONE for part in (node.lower, node.upper, node.step)]
    return Slice(parts)


def subscript(machine: Machine, node: nodes.NodeNG, value: Value, index: Value, index_node: nodes.NodeNG) -> Value:
    """The result of `value[index]`."""
    if isinstance(value, Tensor):
        return index_tensor(machine, node, value, index, index_node)
    if value in (NO_TENSOR, LONGEST_ROW):
        return value
    if isinstance(value, (Sequence, Text)) or is_list_of_parts(value):
        machine.read(node, index_node, index, How.VALUE, "list index")
    if isinstance(value, Sequence):
        return moved_with(machine, index_sequence(machine, value, index), index)
    if isinstance(value, Mapping):
        return entry_of(machine, node, value, key_of(index))
    if isinstance(value, Instance) and value.model:
        numbered = value.attributes.get(str(index.const)) if isinstance(index, Number) else None
        inside = numbered or value.attributes.get("*")
        return inside if inside is not None else value
    if is_open(value):
        return value.attributes.get(key_of(index) or "", UNKNOWN)
    fields = fields_of(value)
    if fields is not None:
        return subscript(machine, node, fields, index, index_node)
    if isinstance(value, Instance) and value.cls is not None:
        method = member_of(value.cls, "__getitem__")
        if isinstance(method, Function):
            return machine.call_function(bound_to(method, value), Arguments(node, [index]))
        items = items_of(value)
        return UNKNOWN if items is None else subscript(machine, node, items, index, index_node)
    if isinstance(value, Instance) and value.library.startswith("datasets.") and isinstance(index, Text):
        return split_of(value)
    if isinstance(value, Text):
        return TEXT
    if isinstance(value, Name) and value.dotted == ENVIRONMENT:
        return environment_value(index)
    return UNKNOWN


def is_list_of_parts(value: Value) -> bool:
    """Whether a value is a list of modules or of parameters."""
    return isinstance(value, Instance) and value.library in LISTS


def index_tensor(machine: Machine, node: nodes.NodeNG, value: Tensor, index: Value, index_node: nodes.NodeNG) -> Value:
    if value.unstructured and isinstance(index, Text):
        return value.like(length=None)
    if value.place is Location.DEVICE:
        report_index(machine, node, index, index_node)
    elif value.place is Location.HOST and not value.unstructured:
        read_index(machine, node, index, index_node)
    length = value.length
    first = index.items[0] if isinstance(index, Sequence) and index.items else index
    if isinstance(first, Slice):
        length = sliced_length(length, first)
    elif first is not NONE:
        length = None
    if first is NONE:
        length = 1
    return machine.derived(node, [value], kind=value.kind, length=length, grad=value.grad and machine.here.grad)


def report_index(
    machine: Machine, node: nodes.NodeNG, index: Value, index_node: nodes.NodeNG, assigned: Value | None = None
) -> None:
    """Report what an index of a device tensor costs, or what it does to assign something there."""
    parts = index.items if isinstance(index, Sequence) and index.frozen and index.items is not None else [index]
    part_nodes = index_node.elts if isinstance(index_node, nodes.Tuple) else [index_node]
    if len(part_nodes) != len(parts):
        part_nodes = [index_node] * len(parts)
    for part, part_node in zip(parts, part_nodes, strict=True):
        if isinstance(part, Number):
            report_changing(machine, node, f"[{part_node.as_string()}]", part, shape=False)
        elif isinstance(part, Slice):
            report_slice(machine, node, part, part_node)
        elif device_tensors(o for o in options(part) if isinstance(o, Tensor) and o.kind is Kind.BOOL):
            filled = isinstance(assigned, Number)
            machine.emit(DataShape(node, machine.context, f"[{part_node.as_string()}]", filled))


def read_index(machine: Machine, node: nodes.NodeNG, index: Value, index_node: nodes.NodeNG) -> None:
    """Let an index of a tensor of the host be read that lives on a lazy device."""
    if machine.aim.is_lazy and device_tensors([index]):
        machine.read(node, index_node, index, How.VALUE, "the index of a tensor of the host", materialises=True)


def report_slice(machine: Machine, node: nodes.NodeNG, part: Slice, part_node: Any) -> None:
    lower, upper, _ = part.parts
    moving = [end for end in (lower, upper) if isinstance(end, Number) and end.loops]
    for end in (lower, upper):
        if device_tensors([end]):
            machine.read(node, part_node, end, How.VALUE, "slice")
    if len(moving) == 2:
        report_changing(machine, node, f"[{part_node.as_string()}]", moving[0], shape=False)
    elif moving:
        report_changing(machine, node, f"[{part_node.as_string()}]", moving[0], shape=True)


def entry_of(machine: Machine, node: nodes.NodeNG, value: Mapping, key: str | None) -> Value:
    if key is not None and key in value.entries:
        return value.entries[key]
    if value.factory is not None and key is not None:
        made = machine.call(value.factory, Arguments(node, []))
        machine.heap.put(value.entries, key, made)
        return made
    if value.element is not None and value.factory is None:
        return any_of([value.element])
    if value.element is None and (not value.entries or key is not None):
        return UNKNOWN
    others = [] if value.element is None else [value.element]
    return machine.heap.summary(value, lambda: any_of([*value.entries.values(), *others]))


def index_sequence(machine: Machine, value: Sequence, index: Value) -> Value:
    """The item of a sequence at an index."""
    if isinstance(index, Number) and index.const is not None and index.const == value.longest:
        return longest_of(value)
    if isinstance(index, Number) and index.const is not None and value.items is not None:
        position = int(index.const)
        if -len(value.items) <= position < len(value.items):
            return value.items[position]
    if isinstance(index, Slice):
        ends = [part.const if isinstance(part, Number) else None for part in index.parts]
        absent = [part is NONE for part in index.parts]
        if value.items is not None and all(a or e is not None for a, e in zip(absent, ends, strict=True)):
            start, stop, step = (None if e is None else int(e) for e in ends)
            if step == 0:
                return UNKNOWN
            return Sequence(value.items[start:stop:step], element_of(value), value.frozen)
        return Sequence(None, element_of(value), value.frozen)
    return machine.heap.summary(value, lambda: element_of(value))


def moved_with(machine: Machine, item: Value, index: Value) -> Value:
    """An item of a sequence: a number changes as its index does, and so do those of a record."""
    if not isinstance(index, Number) or not index.loops:
        return item
    if isinstance(item, Number) and item.const is None:
        return Number(None, item.loops | index.loops, item.traits)
    for loop in index.loops:
        item = turning(machine, item, loop)
    return item


def sliced_length(length: int | None, part: Slice) -> int | None:
    """How many rows a slice of that many rows has."""
    ends = [part_.const if isinstance(part_, Number) and not part_.loops else None for part_ in part.parts]
    if any(end is None and value is not NONE for end, value in zip(ends, part.parts, strict=True)):
        return None
    start, stop, step = (None if end is None else int(end) for end in ends)
    if length is None:
        return stop if stop is not None and stop >= 0 and start in (None, 0) and step in (None, 1) else None
    return len(range(length)[start:stop:step])
