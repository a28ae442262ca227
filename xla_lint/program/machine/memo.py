"""Calls that need not be run again: the same function, called with alike values where the same things hold.

A call is remembered only if it left every shared object as it was. What it returned and how it moved the state
are kept relative to the graph epoch that was open when it began.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xla_lint.program.domain.definitions import Class, Function, Generator
from xla_lint.program.domain.join import element_of, join, told_apart_by
from xla_lint.program.domain.values import (
    MATERIALISED,
    NO_TENSORS,
    NONE,
    TEXT,
    UNKNOWN,
    Choice,
    Instance,
    Name,
    Number,
    Sequence,
    Stream,
    Tensor,
    Text,
    Value,
)
from xla_lint.program.domain.walk import DATA, EVERYTHING, changed

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.domain.heap import Heap
    from xla_lint.program.domain.state import State

WIDEN_AFTER = 6
"""From this many runs of one function on, the constants among its arguments are forgotten."""
STOP_AFTER = (20, 2000)
"""From this many runs of one function in one loop on that took this many statements, it is followed no more there."""
SIBLINGS = 6
"""So many loops may use that up before the function is followed nowhere any more."""
MOST_ITEMS = 6
PENDING = -1
"""In place of the graph epoch of a run that is over: what was pending then is recorded anew by each call."""
DEEPEST = 4
STOP_WITHOUT_CALLER = (4, 400)
"""The same for a function that is run outside all loops, in code without a caller in sight."""


@dataclass(slots=True)
class Remembered:
    """What one call did."""

    result: Value
    begun: int
    """The newest graph epoch that was open when it began."""
    after: State
    cut: bool
    operations: int


class Memo:
    """The calls of one run of a program."""

    def __init__(self) -> None:
        self._calls: dict[tuple[Any, ...], Remembered] = {}
        self.runs: Counter[nodes.NodeNG] = Counter()
        self.work: Counter[nodes.NodeNG] = Counter()
        """How many statements the runs of each function took, those of what it calls among them."""
        self._runs_in: Counter[tuple[nodes.NodeNG, nodes.NodeNG | None]] = Counter()
        self._work_in: Counter[tuple[nodes.NodeNG, nodes.NodeNG | None]] = Counter()
        """The same by the innermost loop around the call."""
        self._plain: dict[tuple[Any, ...], Value] = {}
        """What functions return that have nothing to do with the device, by the kinds of their arguments."""
        self._usual: dict[nodes.NodeNG, Value] = {}
        """What each function returned so far, by all its runs; what was pending was recorded in `PENDING`."""
        self.effectful: set[nodes.NodeNG] = set()
        """The functions that cut the graph, or may have, in some run."""

    def widened(self, function: Function, bound: dict[str, Value]) -> dict[str, Value]:
        """The arguments of a function that was run often: constants are forgotten."""
        if self.runs[function.node] < WIDEN_AFTER:
            return bound
        return {name: widened(value) for name, value in bound.items()}

    def note_run(self, function: Function, loop: nodes.NodeNG | None, work: int) -> None:
        """Count a run of a function in a loop, which took so many statements."""
        self.work[function.node] += work
        self._runs_in[function.node, loop] += 1
        self._work_in[function.node, loop] += work

    def exhausted(
        self, function: Function, loop: nodes.NodeNG | None, *, aside: bool, siblings: int = SIBLINGS
    ) -> bool:
        """True for a function that was run so often in a loop, or in so many, that it is followed no more.

        `aside` says that it runs outside all loops, in code without a caller in sight; `siblings` is how many loops
        may use up what one may.
        """
        node = function.node
        runs, work = STOP_WITHOUT_CALLER if aside else STOP_AFTER
        if self.runs[node] < runs or self.work[node] < work:
            return False
        if aside or (self._runs_in[node, loop] >= runs and self._work_in[node, loop] >= work):
            return True
        return self.runs[node] >= runs * siblings and self.work[node] >= work * siblings

    def note_result(self, function: Function, result: Value, state: State) -> None:
        """Join what a run returned with what earlier runs did."""
        kept: Value = UNKNOWN
        if isinstance(result, Tensor):
            pending = result.is_pending(state.epochs, state.materialised)
            kept = result.like(recorded_in=PENDING if pending else MATERIALISED, roots=NO_TENSORS, certain=False)
        elif isinstance(result, (Number, Text)):
            kept = widened(result)
        known = self._usual.get(function.node)
        self._usual[function.node] = kept if known is None else join(known, kept)

    def usual_result(self, function: Function, state: State) -> Value:
        """What a call returns that is not followed any more: what all earlier ones did, if they were of one kind."""
        known = self._usual.get(function.node, UNKNOWN)
        return rebased(known, {PENDING: max(state.epochs)}) if isinstance(known, (Tensor, Number, Text)) else UNKNOWN

    def plain_key(self, function: Function, bound: dict[str, Value], version: int) -> tuple[Any, ...] | None:
        """What decides what a function returns that has nothing to do with the device; None where a tensor is given.

        `version` is the heap's.
        """
        kinds = tuple(plain_kind(value) for value in bound.values())
        if None in kinds:
            return None
        objects = any(isinstance(kind, (Instance, Class)) for kind in kinds)
        return (function.node, kinds, version if objects else 0)

    def recall_plain(self, key: tuple[Any, ...]) -> Value | None:
        """What a function that has nothing to do with the device returns, None for a new call."""
        return self._plain.get(key)

    def remember_plain(self, key: tuple[Any, ...], result: Value) -> None:
        """Keep what a function returns, if it is a plain number, text or None."""
        if isinstance(result, (Number, Text)) or result in (UNKNOWN, NONE):
            self._plain[key] = widened(result)

    def key(
        self, function: Function, bound: dict[str, Value], state: State, heap: Heap, around: tuple[Any, ...]
    ) -> tuple[Any, ...] | None:
        """What decides what a call does; None for a call that cannot be remembered.

        `around` is what else holds where the call stands.
        """
        if function.frame.outer is not None:
            return None
        return (
            function.node,
            function.compiled,
            function.compilation,
            tuple(fingerprint(value, state) for value in bound.values()),
            heap.version,
            state.epochs & heap.recorded,
            state.materialised,
            state.course(),
            around,
        )

    def recall(self, key: tuple[Any, ...]) -> Remembered | None:
        """What a call did that was made before, None for a new one."""
        return self._calls.get(key)

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
        return value.is_pending(state.epochs, state.materialised), *told_apart_by(value)
    if depth == 0:
        return value
    if isinstance(value, Sequence):
        if value.items is not None and len(value.items) <= MOST_ITEMS:
            return (None if value.frozen else value, tuple(fingerprint(i, state, depth - 1) for i in value.items))
        return (value, fingerprint(element_of(value), state, depth - 1))
    if isinstance(value, Choice):
        return (Choice, value.ranked, tuple(fingerprint(option, state, depth - 1) for option in value.options))
    if isinstance(value, Stream):
        inner = tuple(fingerprint(part, state, depth - 1) for part in EVERYTHING[Stream](value))
        return (Stream, value.counted, len(value.pieces), value.source is None, value.stop is None, inner)
    if isinstance(value, Function):
        given = tuple(fingerprint(item, state, depth - 1) for item in (*value.leading, *value.defaults.values()))
        return (
            value.node,
            value.frame,
            value.receiver,
            value.compiled,
            value.compilation,
            tuple(value.defaults),
            given,
        )
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
    """Whether a value can be given out again in another graph epoch: it holds no object that a call made anew."""
    inside = DATA.get(type(value))
    if inside is None:
        return not isinstance(value, (Instance, Generator))
    return depth > 0 and all(movable(part, depth - 1) for part in inside(value))


def rebased(value: Value, moved: dict[int, int]) -> Value:
    """A value whose pending tensors were recorded in the graph epoch that is open now."""

    def renewed(part: Value) -> Value:
        if not isinstance(part, Tensor):
            return part
        recorded_in = moved.get(part.recorded_in, MATERIALISED)
        return part if recorded_in == part.recorded_in else part.like(recorded_in=recorded_in, roots=NO_TENSORS)

    return changed(value, renewed)
