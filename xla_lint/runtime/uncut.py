"""Graphs that hold several steps, because no barrier cut them: how many turns of which loop, and which rule says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xla_lint.runtime.findings import Verdict
from xla_lint.runtime.reasons import MISSING, UNCUT
from xla_lint.runtime.spans import SAME_FUNCTION, Evidence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.runtime.collect import Compile, Process
    from xla_lint.runtime.findings import Linted
    from xla_lint.runtime.graph_stacks import Stack

SEVERAL = 2
"""So many optimizer steps in one graph are more than one step."""


@dataclass(frozen=True, slots=True)
class Uncut:
    """Such a graph."""

    file: str
    """The line that compiled it."""
    line: int
    operations: int
    optimizer_steps: int
    turns: int
    """Of the loop, as far as its operations noted where they were built; 0 where no loop is known."""
    loop_file: str
    loop_first: int
    """The first of its lines that built something; `loop_last` likewise."""
    loop_last: int
    rule: str
    """Empty where nothing says that it is a mistake: a few micro-steps may be meant to be one graph."""
    seen: str

    @property
    def number(self) -> int:
        """The graphs that are told: one."""
        return 1


def uncut(process: Process, linted: Linted) -> Iterator[Uncut]:
    """Those of a process, one for each line that compiled some: the largest."""
    largest: dict[tuple[str, int], tuple[Compile, int]] = {}
    for compiled in process.compiles:
        steps = _optimizer_steps(process, compiled)
        place = compiled.place.own
        if place is None or not (steps >= SEVERAL or (compiled.turns is not None and compiled.turns.fed)):
            continue
        before = largest.get(place[:2])
        if before is None or before[0].operations < compiled.operations:
            largest[place[:2]] = compiled, steps
    for (file, line), (compiled, steps) in largest.items():
        turns = compiled.turns
        verdict = _verdict(process, compiled, steps, linted)
        yield Uncut(
            file,
            line,
            compiled.operations,
            steps,
            turns.number if turns else 0,
            turns.first.file if turns else "",
            turns.first.line if turns else 0,
            turns.last.line if turns else 0,
            verdict.symbol if verdict else "",
            verdict.words if verdict else "",
        )


def _verdict(process: Process, compiled: Compile, steps: int, linted: Linted) -> Verdict | None:
    """What the linter says of the loop; else the rule where whole steps are in the graph, by what was counted."""
    turns = compiled.turns
    loop: Stack = (turns.first, turns.last) if turns else ()
    if not loop and process.state is not None and process.state.optimizer_place.own is not None:
        loop = (process.state.optimizer_place.own,)
    if loop and (symbol := linted.tied(Evidence(UNCUT, (loop,), SAME_FUNCTION))):
        return Verdict(symbol, linted=True)
    return Verdict(MISSING, linted=False) if steps != 1 else None


def _optimizer_steps(process: Process, compiled: Compile) -> int:
    """How many are in a graph that the process saw being compiled; 0 where it did not."""
    moments = process.state.compiled if process.state else []
    return next((each.optimizer_steps for each in moments if each.upto >= compiled.number), 0)
