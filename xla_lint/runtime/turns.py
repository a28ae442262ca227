"""Loops whose turns a graph holds, one after the other: nothing cut it between them."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xla_lint.runtime.places import is_backend, is_ours, is_own

if TYPE_CHECKING:
    from xla_lint.runtime.graph_stacks import Stack
    from xla_lint.runtime.graphs import Graph
    from xla_lint.runtime.places import Frame

FEWEST = 3
"""Less is no sign of a loop that goes on."""
INPUT = "parameter"


@dataclass(frozen=True, slots=True)
class Turns:
    """A loop in the program: some lines of one function, each of which built everything as many times."""

    number: int
    first: Frame
    last: Frame
    fed: bool
    """True where each turn brings something from the host."""


def turns_of(graph: Graph) -> Turns | None:
    """The loop outside any model of which most turns are in the graph.

    Whatever a line built is there once for each turn, so that the number of turns divides how often it is there. One
    line alone may be a comprehension, or work on several tensors; two of a function are a loop.
    """
    built: dict[Frame, Counter[tuple[str, str, Stack]]] = defaultdict(Counter)
    inputs: Counter[Frame] = Counter()
    for operation in graph.operations:
        for frame in _lines(operation.stack):
            if operation.kind == INPUT:
                inputs[frame] += 1
            if operation.kind not in {INPUT, "constant"}:
                built[frame][operation.kind, operation.origin, operation.stack] += 1
    numbers = {frame: math.gcd(*counts.values()) for frame, counts in built.items()}
    best: Turns | None = None
    by_function: dict[tuple[str, str, int], list[Frame]] = defaultdict(list)
    for frame, number in numbers.items():
        if number >= FEWEST:
            by_function[frame.file, frame.function, number].append(frame)
    for (file, function, number), frames in by_function.items():
        lines = sorted(frames, key=lambda frame: frame.line)
        if len(lines) > 1 and (best is None or number > best.number):
            fed = any(
                brought >= number and (frame.file, frame.function) == (file, function)
                for frame, brought in inputs.items()
            )
            best = Turns(number, lines[0], lines[-1], fed)
    return best


def _lines(stack: Stack) -> list[Frame]:
    """The user's lines that are in no model: outside of them there is no call of a module."""
    lines = []
    for frame in reversed(stack):
        if frame.function == "_call_impl" and is_backend(frame.file):
            break
        if is_own(frame.file) and not is_ours(frame.file):
            lines.append(frame)
    return lines
