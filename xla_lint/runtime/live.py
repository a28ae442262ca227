"""What a program compiles although it is warm, told while it runs in the words of the report."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from xla_lint.runtime.causes import cause_of
from xla_lint.runtime.history import history
from xla_lint.runtime.reasons import groups
from xla_lint.runtime.table import recompiled, shown

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from xla_lint.runtime.collect import Compile, Process


class Live:
    """What was told so far. Of what happens again and again, the first, the second, the fourth time and so on."""

    def __init__(self) -> None:
        self._looked: Counter[int] = Counter()
        """The compiles of each process that were looked at."""
        self._told: Counter[Hashable] = Counter()

    def new(self, processes: Sequence[Process]) -> Iterator[str]:
        """One sentence for what is new, as far as the process itself has told when it was."""
        for process in processes:
            state = process.state
            if state is None or state.warm is None:
                continue
            upto = min(state.counts.compiles, len(process.compiles))
            fresh = process.compiles[self._looked[state.pid] : upto]
            self._looked[state.pid] = max(upto, self._looked[state.pid])
            late = {each.number for each in fresh if each.number > state.warm.compiles}
            if late:
                who = f"process {state.pid}, " if len(processes) > 1 else ""
                yield from (f"{who}{each}" for each in self._sentences(process, state.pid, late))

    def _sentences(self, process: Process, pid: int, late: set[int]) -> Iterator[str]:
        steps = {each.number: each.step for each in history(process)}
        again: set[int] = set()
        for group in groups(process):
            new = late.intersection(each.number for each in group.compiles)
            again |= new
            if self._is_due((pid, group.place, group.cause, group.kinds, group.grows), len(new)):
                yield f"{_step(steps[max(new)])}{recompiled(group.reason)}"
        for each in process.compiles:
            if each.number in late - again and self._is_due((pid, each.place, each.cause), 1):
                yield f"{_step(steps[each.number])}{_first(each)}"

    def _is_due(self, what: Hashable, times: int) -> bool:
        before = self._told[what]
        self._told[what] += times
        return self._told[what].bit_length() > before.bit_length()


def _first(compiled: Compile) -> str:
    place = compiled.place.own
    where = shown(place.file, place.line) if place else "a place without a Python frame"
    return f"compiled at {where}, where no graph like it was compiled before: {cause_of(compiled.cause).words}"


def _step(before: int) -> str:
    return f"step {before + 1}: " if before >= 0 else ""
