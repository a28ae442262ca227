"""What iterating each kind of value yields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.definitions import Function
from xla_lint.program.domain.join import element_of, join_all
from xla_lint.program.domain.loaders import Loader
from xla_lint.program.domain.objects import bound_to, fields_of, items_of, keys_of, member_of
from xla_lint.program.domain.values import (
    NO_TENSOR,
    NO_TRAITS,
    NONE,
    NUMBER,
    TEXT,
    UNKNOWN,
    Choice,
    Instance,
    Mapping,
    Number,
    Sequence,
    Stream,
    Tensor,
    Text,
    Trait,
)
from xla_lint.program.library.dispatch import iterate_library
from xla_lint.program.machine.arguments import Arguments
from xla_lint.program.machine.meanings import iterating

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.domain.loops import Loop
    from xla_lint.program.domain.values import Value
    from xla_lint.program.machine.machine import Machine


ITEM = frozenset({Trait.ITEM})


@iterating(Tensor)
def iterate_tensor(machine: Machine, value: Tensor, _: Loop | None, node: nodes.NodeNG) -> Value:
    """A row of a tensor, or a part of what a model gave."""
    if value.unstructured:
        return value.alias(length=None)
    return machine.derived(node, [value], kind=value.kind, grad=value.grad)


@iterating(Sequence)
def iterate_sequence(_: Machine, value: Sequence, loop: Loop | None, __: nodes.NodeNG) -> Value:
    """An item; a number that is one of several changes with the loop."""
    element = element_of(value)
    if loop is not None and isinstance(element, Number) and element.const is None:
        return Number(None, element.loops | {loop}, element.traits)
    return element


@iterating(Text)
def iterate_text(_: Machine, __: Value, ___: Loop | None, ____: nodes.NodeNG) -> Value:
    """A character."""
    return TEXT


@iterating(Mapping)
def iterate_mapping(machine: Machine, value: Mapping, loop: Loop | None, node: nodes.NodeNG) -> Value:
    """A key."""
    return machine.iterate(Sequence(None, keys_of(value)), loop, node)


@iterating(type(NO_TENSOR))
def iterate_other(_: Machine, value: Value, __: Loop | None, ___: nodes.NodeNG) -> Value:
    """A part of what is no tensor is not taken for one either."""
    return value


@iterating(Choice)
def iterate_choice(machine: Machine, value: Choice, loop: Loop | None, node: nodes.NodeNG) -> Value:
    """What iterating any of the alternatives yields."""
    return join_all(machine.iterate(o, loop, node) for o in value.options if o is not NONE)


@iterating(Stream)
def iterate_stream(machine: Machine, value: Stream, loop: Loop | None, node: nodes.NodeNG) -> Value:
    if value.pieces:
        items = [machine.iterate(piece, loop, node) for piece in value.pieces]
        return Sequence(items, join_all(items), True)
    if value.source is not None:
        return machine.iterate(value.source, loop, node)
    if value.counted:
        traits = value.element.traits if isinstance(value.element, Number) else NO_TRAITS
        return Number(None, frozenset({loop}), traits) if loop is not None else Number(None, traits=traits | ITEM)
    return value.element


@iterating(Loader)
def iterate_loader(machine: Machine, value: Loader, loop: Loop | None, node: nodes.NodeNG) -> Value:
    if not value.wrapped:
        return value.element
    if loop is not None and machine.at.loops and machine.at.loops[-1] is loop:
        machine.barrier(node, "next()", silent=True)
    return value.element


@iterating(Instance)
def iterate_instance(machine: Machine, value: Instance, loop: Loop | None, node: nodes.NodeNG) -> Value:
    if value.cls is not None and not value.model:
        method = member_of(value.cls, "__iter__")
        if isinstance(method, Function):
            produced = machine.call_function(bound_to(method, value), Arguments(node, []))
            if produced is value:
                step = member_of(value.cls, "__next__")
                return (
                    machine.call(bound_to(step, value), Arguments(node, [])) if isinstance(step, Function) else UNKNOWN
                )
            return machine.iterate(produced, loop, node)
        fields = fields_of(value)
        if fields is not None:
            return machine.iterate(fields, loop, node)
        method = member_of(value.cls, "__getitem__")
        if isinstance(method, Function):
            place = Number(loops=frozenset({loop})) if loop is not None else NUMBER
            return machine.call_function(bound_to(method, value), Arguments(node, [place]))
        items = items_of(value)
        if items is not None:
            return machine.iterate(items, loop, node)
    return iterate_library(machine, value, loop, node)
