"""The compiles of a process one by one: when, how long, where, of what, and what is new in each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xla_lint.runtime.causes import cause_of
from xla_lint.runtime.given import Given, given
from xla_lint.runtime.reasons import Told, told

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.runtime.collect import Process
    from xla_lint.runtime.graph_stacks import Stack
    from xla_lint.runtime.records import Memory


@dataclass(frozen=True, slots=True)
class Compiled:
    """One graph."""

    number: int
    """Among all that the process compiled, from 1."""
    step: int
    """The steps that had ended before; -1 where the process did not see it: dynamo, another thread. `at` likewise."""
    at: float
    """Seconds since the process began to record, when it was compiled."""
    seconds: float
    """How long compiling took, of all that were compiled at the same barrier; -1 where it is not known."""
    together: int
    """How many these are."""
    cause: str
    stack: Stack
    """What compiled it, innermost first."""
    operations: int
    """0 where the graph was not dumped."""
    inputs: int
    results: int
    executions: int
    """How often it ran."""
    against: int
    """The number of the closest graph that was compiled at the same place before; 0 where none is alike."""
    differences: tuple[Told, ...]
    """What differs from that one."""
    given: tuple[Given, ...] = ()
    """The inputs by shape and line; empty where the graph was not dumped."""
    memory: Memory | None = None
    """What it needs on the device; None where torch_xla does not tell."""


def history(process: Process) -> Iterator[Compiled]:
    """All that is known one by one."""
    moments = iter(process.state.compiled if process.state else [])
    moment, first = next(moments, None), 1
    for each in process.compiles:
        while moment is not None and moment.upto < each.number:
            first = moment.upto + 1
            moment = next(moments, None)
        yield Compiled(
            each.number,
            moment.step if moment else -1,
            moment.at if moment else -1,
            moment.seconds if moment else -1,
            moment.upto - first + 1 if moment else 1,
            cause_of(each.cause).words,
            each.stack,
            each.operations,
            each.inputs,
            each.results,
            process.ran[each.graph],
            each.against.number if each.against else 0,
            tuple(map(told, each.against.differences)) if each.against else (),
            tuple(given(each.given)),
            each.memory,
        )
