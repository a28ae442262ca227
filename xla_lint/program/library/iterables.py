"""What can be iterated: `range`, `enumerate`, `zip`, `map`, `itertools`, and how long it is."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.definitions import Function, Generator
from xla_lint.program.domain.events import How
from xla_lint.program.domain.join import join_all
from xla_lint.program.domain.loaders import Loader
from xla_lint.program.domain.longest import LONGEST_LENGTH, LONGEST_ROW
from xla_lint.program.domain.objects import differs_between_replicas, loader_of
from xla_lint.program.domain.ranks import RANK
from xla_lint.program.domain.values import (
    NO_LOOPS,
    NONE,
    NUMBER,
    UNKNOWN,
    Instance,
    Number,
    Sequence,
    Stream,
    Tensor,
    Text,
    Trait,
    Value,
)
from xla_lint.program.library.progress import bar_method
from xla_lint.program.library.registry import function, methods
from xla_lint.program.machine.arguments import Arguments

if TYPE_CHECKING:
    from xla_lint.program.machine.machine import Machine

LARGEST = sys.maxsize // 2
"""What the bounds of a `range` may be at most to be counted."""


@function("builtins.len")
def length(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A length is known without running anything."""
    value = arguments.get(0)
    traits = frozenset({Trait.SHAPE})
    if isinstance(value, Tensor):
        return Number(value.length, traits=traits)
    if value is LONGEST_ROW:
        return LONGEST_LENGTH
    if isinstance(value, Sequence) and value.items is not None:
        return Number(len(value.items), traits=traits)
    if isinstance(value, Text) and value.const is not None:
        return Number(len(value.const))
    if isinstance(value, Instance):
        if value.cls is not None and isinstance(
            method := machine.attribute(value, "__len__", arguments.node), Function
        ):
            result = machine.call(method, Arguments(arguments.node, []))
            return result if isinstance(result, Number) else NUMBER
        rows = value.attributes.get("*rows")
        return rows if isinstance(rows, Number) else NUMBER
    if isinstance(value, Loader) and value.prepared:
        return Number(traits=traits | {Trait.PREPARED})
    if isinstance(value, Loader) and value.rows is not None:
        return NUMBER
    changing = value.grown if isinstance(value, Sequence) and value.made is not None and not value.steady else NO_LOOPS
    return Number(loops=changing, traits=traits)


@function("builtins.range")
def count(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """`range` of a tensor reads it."""
    machine.read_each(arguments, How.VALUE, "range()")
    stop = arguments.positional[0] if len(arguments.positional) == 1 else span(arguments.positional)
    ranked = any(differs_between_replicas(value) for value in arguments.positional)
    return Stream(RANK if ranked else NUMBER, counted=True, stop=stop)


def span(bounds: list[Value]) -> Value | None:
    """The length of a `range` with a start; its end where that is all that can be said."""
    known = [bound.const for bound in bounds if isinstance(bound, Number) and isinstance(bound.const, int)]
    if len(known) < len(bounds) or not 1 < len(known) < 4 or known[2:] == [0] or max(map(abs, known)) > LARGEST:
        return bounds[1] if len(bounds) > 1 else None
    return Number(len(range(*known)))


@function("builtins.enumerate")
def number_items(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Each item with its number."""
    source = arguments.get(0, "iterable")
    return Stream(UNKNOWN, pieces=(Stream(NUMBER, counted=True), source if source is not None else UNKNOWN))


@function("builtins.zip", "itertools.zip_longest")
def zip_items(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Items side by side; of unpacked rows the columns."""
    if not arguments.unpacked:
        return Stream(UNKNOWN, pieces=tuple(arguments.positional))
    rows = arguments.positional[0] if len(arguments.positional) == 1 else UNKNOWN
    if isinstance(rows, Sequence) and rows.items is not None:
        return Sequence([Sequence(None, item, frozen=True) for item in rows.items], UNKNOWN, frozen=True)
    if isinstance(rows, Tensor):
        return Stream(Sequence(None, machine.iterate(rows, None, arguments.node), frozen=True))
    return UNKNOWN


@function("builtins.iter", "itertools.islice", "itertools.cycle", "builtins.reversed", "itertools.chain")
def pass_items(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """The same items, in another order or number."""
    if dotted == "itertools.chain":
        return Stream(join_all(machine.iterate(v, None, arguments.node) for v in arguments.positional))
    value = arguments.get(0)
    return Stream(UNKNOWN, source=value) if value is not None else UNKNOWN


@function("builtins.next")
def next_item(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """The next item; of a wrapped loader it is a barrier."""
    value = arguments.get(0)
    if value is None:
        return UNKNOWN
    loader = loader_of(value)
    if loader is not None and loader.wrapped:
        machine.barrier(arguments.node, "next()", silent=True)
        return loader.element
    if loader is not None and machine.loop is not None and not takes_the_first(arguments):
        loader.feed(machine.loop)
    return machine.iterate(value, None, arguments.node)


def takes_the_first(arguments: Arguments) -> bool:
    """Whether `next` is called on an iterator that is made for it: `next(iter(loader))`."""
    return isinstance(arguments.node_of(0), nodes.Call)


@function("builtins.map", "builtins.filter")
def apply(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A function applied to each item."""
    if len(arguments.positional) < 2:
        return UNKNOWN
    items = [machine.iterate(value, None, arguments.node) for value in arguments.positional[1:]]
    function_ = arguments.positional[0]
    result = items[0] if function_ is NONE else machine.call(function_, Arguments(arguments.node, items))
    if dotted == "builtins.filter":
        machine.read(arguments.node, None, result, How.BRANCH, "filter")
        return Stream(items[0])
    return Stream(result)


@function("itertools.count")
def endless_count(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Numbers without end."""
    return Stream(NUMBER, counted=True)


@methods(Stream)
def stream_method(machine: Machine, receiver: Stream, name: str, arguments: Arguments) -> Value | None:
    """Methods of iterators: progress bars among them."""
    if name in ("set_postfix", "set_description", "set_postfix_str", "write", "update", "refresh", "close"):
        return bar_method(machine, receiver, name, arguments)
    return UNKNOWN


@methods(Generator)
def generator_method(machine: Machine, receiver: Generator, name: str, arguments: Arguments) -> Value | None:
    """`send` and `__next__` run the generator."""
    return machine.iterate(receiver, None, arguments.node)
