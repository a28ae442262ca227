"""Assignment: to names, attributes and items, and what is unpacked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.definitions import Function
from xla_lint.program.domain.events import GradientSet, How
from xla_lint.program.domain.join import element_of, join, join_all
from xla_lint.program.domain.locations import device_tensors
from xla_lint.program.domain.objects import bound_to, is_open, items_of, key_of, member_of
from xla_lint.program.domain.ranks import ENVIRONMENT
from xla_lint.program.domain.values import (
    NONE,
    UNKNOWN,
    Choice,
    Instance,
    Location,
    Mapping,
    Name,
    Number,
    Sequence,
    Stream,
    Tensor,
    Text,
    Trait,
    options,
)
from xla_lint.program.domain.walk import bounded
from xla_lint.program.interpreter.names import by_use, lookup, resolve_use
from xla_lint.program.interpreter.operators import OPERATORS, own_operator
from xla_lint.program.interpreter.subscripts import Slice, read_index, report_index, slice_
from xla_lint.program.interpreter.totals import as_total, with_history
from xla_lint.program.library.environment import note as set_variable
from xla_lint.program.library.tensors import read_into
from xla_lint.program.machine.arguments import Arguments
from xla_lint.program.machine.meanings import assigning, statement

if TYPE_CHECKING:
    from typing import Any

    from xla_lint.program.domain.loops import Loop
    from xla_lint.program.domain.values import Value
    from xla_lint.program.machine.machine import Machine


GRADIENT = "grad"
"""The attribute of a tensor that holds its gradient."""


@statement(nodes.Assign)
def assign(machine: Machine, node: nodes.Assign) -> None:
    value = as_total(machine, node, machine.evaluate(node.value))
    for target in node.targets:
        machine.bind(target, value)


@statement(nodes.AnnAssign)
def annotated_assignment(machine: Machine, node: nodes.AnnAssign) -> None:
    if node.value is not None:
        machine.bind(node.target, machine.evaluate(node.value))


@statement(nodes.AugAssign)
def augmented_assignment(machine: Machine, node: nodes.AugAssign) -> None:
    target = node.target
    left = target_value(machine, target)
    if isinstance(target, nodes.Subscript) and isinstance(target.slice, nodes.Const):
        appear(machine, target, left)
    right = machine.evaluate(node.value)
    op = node.op.removesuffix("=")
    if isinstance(left, Sequence) and not left.frozen and op == "+":
        machine.extend(left, right, node)
        return
    value = own_operator(machine, node, f"__i{OPERATORS[op]}__", left, right)
    if value is None and isinstance(left, Tensor) and left.place is Location.HOST and device_tensors([right]):
        value = read_into(machine, node, node.value, left, right, node.op)
        value = with_history(machine, node, target, left, right, value)
    elif value is None:
        value = machine.binary(node, op, left, right)
        value = with_history(machine, node, target, left, right, value)
    machine.bind(target, value)


def target_value(machine: Machine, target: nodes.NodeNG) -> Value:
    if isinstance(target, nodes.AssignName):
        return lookup(machine, target.name)
    if isinstance(target, nodes.AssignAttr):
        return machine.attribute(machine.evaluate(target.expr), target.attrname, target)
    return machine.evaluate(target)


def appear(machine: Machine, target: nodes.Subscript, value: Value) -> None:
    """Let a key exist that a `defaultdict` makes when it is first asked for."""
    key = key_of(machine.quietly(target.slice))
    for option in options(machine.quietly(target.value)):
        if isinstance(option, Mapping) and key is not None and key not in option.entries:
            machine.heap.put(option.entries, key, value)


@assigning(nodes.AssignAttr)
def bind_attribute(machine: Machine, target: nodes.AssignAttr, value: Value) -> None:
    """Set an attribute; setting a gradient is an event."""
    if target.attrname == GRADIENT:
        machine.emit(GradientSet(target, machine.context))
    machine.set_attribute(machine.evaluate(target.expr), target.attrname, value)


@assigning(nodes.Starred)
def bind_rest(machine: Machine, target: nodes.Starred, value: Value) -> None:
    """Bind a starred target to a list of what is left."""
    machine.bind(target.value, Sequence(None, value))


@assigning(nodes.AssignName)
def bind_name(machine: Machine, target: nodes.AssignName, value: Value) -> None:
    if value is UNKNOWN and machine.at.frame.node is not None:
        value = by_use(machine, target)
    elif isinstance(value, (Tensor, Choice)):
        value = resolve_use(machine, value, target.name, machine.at.frame.node or machine.module)
    frame = machine.at.frame.outside.get(target.name)
    if frame is not None:
        machine.heap.put(frame.env, target.name, value)
    else:
        machine.here.env[target.name] = value
        if machine.at.frame.outer is None:
            machine.bindings += 1
            machine.heap.note(value)


@assigning(nodes.Tuple, nodes.List)
def unpack(machine: Machine, target: nodes.Tuple | nodes.List, value: Value) -> None:
    elements: list[Any] = target.elts
    for option in options(value):
        if isinstance(option, Sequence) and option.items is not None and len(option.items) == len(elements):
            value = option
            break
    if isinstance(value, Sequence) and value.items is not None and unpack_exactly(machine, elements, value.items):
        return
    if isinstance(value, Instance) and value.cls is not None and value.cls.fields:
        items = [machine.attribute(value, name, target) for name in value.cls.fields]
        if unpack_exactly(machine, elements, items):
            return
    if isinstance(value, Stream) and len(value.pieces) == len(elements):
        for element, piece in zip(elements, value.pieces, strict=True):
            machine.bind(element, machine.iterate(piece, None, target))
        return
    item = machine.iterate(value, None, target)
    for element in elements:
        machine.bind(element, item.like() if isinstance(item, Tensor) else item)


def unpack_exactly(machine: Machine, elements: list[Any], items: list[Value]) -> bool:
    star = next((i for i, e in enumerate(elements) if isinstance(e, nodes.Starred)), None)
    if star is None:
        if len(elements) != len(items):
            return False
        for element, item in zip(elements, items, strict=True):
            machine.bind(element, item)
        return True
    after = len(elements) - star - 1
    if len(items) < star + after:
        return False
    middle = items[star : len(items) - after]
    for element, item in zip(elements[:star], items[:star], strict=True):
        machine.bind(element, item)
    machine.bind(elements[star].value, Sequence(middle, join_all(middle)))
    for element, item in zip(elements[star + 1 :], items[len(items) - after :], strict=True):
        machine.bind(element, item)
    return True


@assigning(nodes.Subscript)
def store_subscript(machine: Machine, target: nodes.Subscript, value: Value) -> None:
    owner = machine.evaluate(target.value)
    if isinstance(target.slice, nodes.Slice):
        index: Value = slice_(machine, target.slice)
    else:
        index = machine.evaluate(target.slice)
    on_host = all(option.place is Location.HOST for option in options(owner) if isinstance(option, Tensor))
    for option in options(owner):
        if isinstance(option, Tensor):
            if option.place is Location.DEVICE:
                report_index(machine, target, index, target.slice, value)
                machine.tensor(target, Location.DEVICE)
                if machine.loop is not None:
                    machine.loop.note_change()
            elif on_host and not option.unstructured:
                read_index(machine, target, index, target.slice)
            if on_host and not option.unstructured and device_tensors([value]):
                machine.read(target, None, value, How.VALUE, "copy into a host tensor", materialises=True)
            if option.made is not None and not all(is_made(part, option.made) for part in (index, value)):
                machine.rebind(target.value, option, option.like(made=None))
        elif isinstance(option, Mapping) and is_each_key(target):
            store_each(machine, option, bounded(value, option))
        elif isinstance(option, Name) and option.dotted == ENVIRONMENT:
            set_variable(machine, target.parent if isinstance(target.parent, nodes.Assign) else target, index, value)
        elif is_open(option):
            if isinstance(index, Text) and index.const is not None:
                machine.set_attribute(option, index.const, value)
        elif isinstance(option, Instance) and isinstance(method := member_of(option.cls, "__setitem__"), Function):
            machine.call_function(bound_to(method, option), Arguments(target, [index, value]))
        else:
            put_item(machine, items_of(option) or option, index, value)


def put_item(machine: Machine, owner: Value, index: Value, value: Value) -> None:
    """Set an item of a dict or of a list."""
    if isinstance(owner, Mapping):
        store_item(machine, owner, index, bounded(value, owner))
    elif isinstance(owner, Sequence) and not owner.frozen:
        machine.heap.assign(owner, "items", None)
        machine.heap.assign(owner, "element", join(owner.element, bounded(value, owner)))


def is_made(value: Value, around: Loop) -> bool:
    """Whether an index or an item comes from the source's own numbers, the same in every turn of a loop."""
    if isinstance(value, Tensor):
        return value.made is not None
    if isinstance(value, Sequence):
        return all(is_made(item, around) for item in (value.items if value.items is not None else [value.element]))
    if isinstance(value, Slice):
        return all(is_made(part, around) for part in value.parts)
    if isinstance(value, Number) and value.loops:
        return all(around in loop.around() for loop in value.loops)
    if isinstance(value, Number):
        return value.const is not None or Trait.SHAPE in value.traits
    return value is NONE


def is_each_key(target: nodes.Subscript) -> bool:
    """Whether an item is set under each key of its dict in turn: `for k in d: d[k] = ...`."""
    if not isinstance(target.slice, nodes.Name) or not isinstance(target.value, nodes.Name):
        return False
    key, owner = target.slice.name, target.value.name
    loops = (node for node in target.node_ancestors() if isinstance(node, nodes.For))
    return any(takes_keys(loop.target, key) and goes_over(loop.iter, owner) for loop in loops)


def takes_keys(target: nodes.NodeNG, key: str) -> bool:
    """Whether a loop's target is a key, or a key with its item."""
    first = target.elts[0] if isinstance(target, nodes.Tuple) and target.elts else target
    return isinstance(first, nodes.AssignName) and first.name == key


def goes_over(iterable: nodes.NodeNG, owner: str) -> bool:
    """Whether a loop goes over a dict of this name, its keys or its items."""
    while isinstance(iterable, nodes.Call):
        called = iterable.func
        views = isinstance(called, nodes.Attribute) and called.attrname in ("keys", "items")
        iterable = called.expr if views and isinstance(called, nodes.Attribute) else next(iter(iterable.args), called)
    return isinstance(iterable, nodes.Name) and iterable.name == owner


def store_each(machine: Machine, owner: Mapping, value: Value) -> None:
    """Set every item of a dict; under a test, some of them. What is not known adds nothing to what is."""
    if value is UNKNOWN:
        store_item(machine, owner, value, value)
        return
    conditional = machine.is_conditional
    for key, held in list(owner.entries.items()):
        machine.heap.put(owner.entries, key, join(held, value) if conditional else value)
    if owner.element is not None:
        machine.heap.assign(owner, "element", join(owner.element, value) if conditional else value)


def store_item(machine: Machine, owner: Mapping, index: Value, value: Value) -> None:
    key = key_of(index)
    if key is not None:
        machine.heap.put(owner.entries, key, value)
    else:
        machine.heap.assign(owner, "element", value if owner.element is None else join(owner.element, value))


def extend(machine: Machine, receiver: Sequence, value: Value, node: nodes.NodeNG) -> None:
    items = None
    if isinstance(value, Sequence) and value.items is not None and receiver.items is not None and not machine.at.loops:
        items = [*receiver.items, *value.items]
    added = bounded(machine.iterate(value, None, node), receiver)
    element = added if not receiver.items and receiver.element is UNKNOWN else join(element_of(receiver), added)
    machine.heap.assign(receiver, "items", items)
    machine.heap.assign(receiver, "element", element)


@statement(nodes.Delete)
def delete(machine: Machine, node: nodes.Delete) -> None:
    for target in node.targets:
        if isinstance(target, nodes.DelName):
            machine.here.env.pop(target.name, None)
        elif isinstance(target, nodes.DelAttr) and target.attrname == GRADIENT:
            machine.emit(GradientSet(target, machine.context))
