"""Calls that need not be run again: the same function, called with alike values where the same things hold.

A call is remembered only if it left every shared object as it was. What it returned and how it moved the state
are kept relative to the graph segment that was open when it began.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xla_lint.program.domain.events import Condition
from xla_lint.program.domain.loops import Cut
from xla_lint.program.domain.values import (
    MATERIALISED,
    NONE,
    TEXT,
    UNKNOWN,
    Choice,
    Class,
    Function,
    Generator,
    Instance,
    Mapping,
    Name,
    Number,
    Sequence,
    Stream,
    Tensor,
    Text,
    Value,
    element_of,
)

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.domain.state import State
    from xla_lint.program.machine.machine import Machine

WIDEN_AFTER = 6
"""From this many runs of one function on, the constants among its arguments are forgotten."""
STOP_AFTER = (20, 2000)
"""From this many runs of one function on that took this many statements, it is followed no more."""
MOST_ITEMS = 6
DEEPEST = 4
STOP_WITHOUT_CALLER = (4, 400)
"""The same for a function that is run outside all loops, in code without a caller in sight."""


@dataclass(slots=True)
class Remembered:
    """What one call did."""

    result: Value
    begun: int
    """The newest segment that was open when it began."""
    after: State
    cut: bool
    operations: int


class Memo:
    """The calls of one module's analysis."""

    def __init__(self) -> None:
        self._calls: dict[tuple[Any, ...], Remembered] = {}
        self.runs: Counter[nodes.NodeNG] = Counter()
        self.work: Counter[nodes.NodeNG] = Counter()
        """How many statements the runs of each function took, those of what it calls among them."""
        self._plain: dict[tuple[Any, ...], Value] = {}
        """What functions return that have nothing to do with the device, by the kinds of their arguments."""
        self.effectful: set[nodes.NodeNG] = set()
        """The functions that cut the graph, or may have, in some run."""

    def widened(self, function: Function, bound: dict[str, Value]) -> dict[str, Value]:
        """The arguments of a function that was run often: constants are forgotten."""
        if self.runs[function.node] < WIDEN_AFTER:
            return bound
        return {name: widened(value) for name, value in bound.items()}

    def exhausted(self, machine: Machine, function: Function) -> bool:
        """True for a function that was run so often that it is followed no more."""
        runs, work = STOP_AFTER if machine.loops or not machine.without_caller else STOP_WITHOUT_CALLER
        return self.runs[function.node] >= runs and self.work[function.node] >= work

    def plain_key(self, machine: Machine, function: Function, bound: dict[str, Value]) -> tuple[Any, ...] | None:
        """What decides what a function returns that has nothing to do with the device; None where a tensor is given."""
        kinds = tuple(plain_kind(value) for value in bound.values())
        if None in kinds:
            return None
        objects = any(isinstance(kind, (Instance, Class)) for kind in kinds)
        return (function.node, kinds, machine.heap.version if objects else 0)

    def recall_plain(self, key: tuple[Any, ...]) -> Value | None:
        """What a function that has nothing to do with the device returns, None for a new call."""
        return self._plain.get(key)

    def remember_plain(self, key: tuple[Any, ...], result: Value) -> None:
        """Keep what a function returns, if it is a plain number, text or None."""
        if isinstance(result, (Number, Text)) or result in (UNKNOWN, NONE):
            self._plain[key] = widened(result)

    def key(
        self, machine: Machine, function: Function, bound: dict[str, Value], node: nodes.NodeNG
    ) -> tuple[Any, ...] | None:
        """What decides what a call does; None for a call that cannot be remembered.

        Under a test on the rank each call counts for itself, since what it reaches is reported at the call.
        """
        if function.frame.outer is not None:
            return None
        state = machine.here
        divided = any(constraint.condition in (Condition.RANK, Condition.DATA) for constraint in state.path_condition)
        return (
            function.node,
            function.compiled,
            tuple(fingerprint(value, state) for value in bound.values()),
            machine.heap.version,
            machine.setting,
            tuple(machine.loops),
            state.course(),
            node if divided else None,
        )

    def recall(self, machine: Machine, key: tuple[Any, ...]) -> Value | None:
        """What a call returns that was made before, with the state moved as it moved it; None for a new one."""
        known = self._calls.get(key)
        if known is None:
            return None
        state = machine.here
        epochs, materialised, newest = state.epochs, state.materialised, max(state.epochs)
        state.take_course(known.after)
        if known.cut:
            fresh = machine.new_epoch()
            moved = {max(known.after.epochs): fresh}
            state.epochs = frozenset({fresh}) if known.after.cut is Cut.ALWAYS else epochs | {fresh}
            state.materialised = frozenset()
        else:
            moved = {known.begun: newest}
            state.epochs, state.materialised = epochs, materialised
        machine.operations += known.operations
        return rebased(known.result, moved)

    def remember(
        self, key: tuple[Any, ...], result: Value, begun: frozenset[int], after: State, operations: int
    ) -> None:
        """Keep what a call did, if it can be kept."""
        if movable(result):
            cut = after.epochs != begun
            self._calls[key] = Remembered(result, max(begun), after, cut, operations)


def fingerprint(value: Value, state: State, depth: int = DEEPEST) -> Any:
    """What of a value can make a difference to what a function does with it."""
    if isinstance(value, Tensor):
        pending = value.recorded_in in state.epochs and (value.root or value) not in state.materialised
        return (
            value.place, pending, value.kind, value.grad, value.unstructured, value.certain, value.length, value.sites,
            value.clip, value.undecided, value.origins, value.collective, value.shared, value.parts,
        )  # fmt: skip
    if depth == 0:
        return type(value)
    if isinstance(value, Sequence):
        if value.items is not None and len(value.items) <= MOST_ITEMS:
            return (None if value.frozen else value, tuple(fingerprint(i, state, depth - 1) for i in value.items))
        return (None if value.frozen else value, fingerprint(element_of(value), state, depth - 1))
    if isinstance(value, Choice):
        return (Choice, value.ranked, tuple(fingerprint(option, state, depth - 1) for option in value.options))
    if isinstance(value, Stream):
        inner = (*value.pieces, *(() if value.source is None else (value.source,)), value.element)
        return (Stream, value.counted, tuple(fingerprint(piece, state, depth - 1) for piece in inner))
    if isinstance(value, Function):
        given = tuple(fingerprint(item, state, depth - 1) for item in (*value.leading, *value.defaults.values()))
        return (value.node, value.frame, value.receiver, given)
    return value


def plain_kind(value: Value) -> Any:
    """The kind of an argument that is no tensor and holds none; None for one that may."""
    if isinstance(value, (Number, Text)):
        telling = value.fact if isinstance(value, Text) else bool(value.loops | value.traits)
        return value if telling else type(value)
    if value is UNKNOWN or value is NONE or isinstance(value, Name):
        return value
    return value if isinstance(value, (Instance, Class)) else None


def widened(value: Value) -> Value:
    """A value with its constants forgotten."""
    if isinstance(value, Number) and value.const is not None:
        return Number(None, value.loops, value.traits)
    if isinstance(value, Text):
        return TEXT
    if isinstance(value, Tensor) and value.length is not None:
        return value.like(length=None)
    if isinstance(value, Sequence) and value.frozen and value.items is not None and len(value.items) > MOST_ITEMS:
        return Sequence(None, element_of(value), True)
    return value


def movable(value: Value, depth: int = DEEPEST) -> bool:
    """Whether a value can be given out again in another segment: it holds no object that a call made anew."""
    if isinstance(value, (Choice, Sequence, Mapping)):
        if isinstance(value, Choice):
            parts: list[Value] = list(value.options)
        elif isinstance(value, Sequence):
            parts = value.items if value.items is not None else [value.element]
        else:
            parts = [*value.entries.values(), *(() if value.element is None else (value.element,))]
        return depth > 0 and all(movable(part, depth - 1) for part in parts)
    return not isinstance(value, (Instance, Generator))


def rebased(value: Value, moved: dict[int, int]) -> Value:
    """A value whose pending tensors were born in the segment that is open now; `movable` bounds its depth."""
    if isinstance(value, Tensor):
        recorded_in = moved.get(value.recorded_in, MATERIALISED)
        return value if recorded_in == value.recorded_in else value.like(recorded_in=recorded_in)
    if isinstance(value, Choice):
        return Choice(tuple(rebased(option, moved) for option in value.options), value.ranked)
    if isinstance(value, Sequence):
        items = None if value.items is None else [rebased(item, moved) for item in value.items]
        return Sequence(items, rebased(value.element, moved), value.frozen)
    if isinstance(value, Mapping):
        entries = {key: rebased(item, moved) for key, item in value.entries.items()}
        element = None if value.element is None else rebased(value.element, moved)
        return Mapping(entries, element, value.factory)
    return value
