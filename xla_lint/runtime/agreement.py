"""The linter's findings against what the runtime recorded, line by line."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from xla_lint.rules.base import Counter
from xla_lint.runtime.confirmation import confirmed, moved
from xla_lint.runtime.findings import TOO_MANY
from xla_lint.runtime.summary import ENDED_WELL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from xla_lint.runtime.findings import Linted
    from xla_lint.runtime.spans import Span, Stretch
    from xla_lint.runtime.summary import Summary

OFTEN = 3
"""Less than this is no steady state."""


@dataclass(frozen=True, slots=True)
class Forced:
    """A line that forced executions or recompiles in steady state."""

    file: str
    line: int
    what: str
    """`executions` or `recompiles`."""
    number: int
    why: str
    flagged: str
    """The rule by which the linter says so; empty where it says nothing."""

    @property
    def words(self) -> str:
        """A disagreement in words."""
        return f"forced {self.number} {self.what} and is not flagged ({self.why})"


@dataclass(frozen=True, slots=True)
class Flagged:
    """A line that ran and about which the linter says that it executes, recompiles or reads."""

    file: str
    line: int
    symbol: str
    confirmed: bool
    recorded: str
    """What the runtime recorded at the line."""

    @property
    def words(self) -> str:
        """A disagreement in words."""
        return f"is flagged as {self.symbol}, and the runtime recorded {self.recorded}"


@dataclass(frozen=True, slots=True)
class Agreement:
    """What both halves say of one run."""

    script: str
    ended: str
    forced: list[Forced]
    flagged: list[Flagged]
    elsewhere: int
    """Executions that no line of the program made."""

    @property
    def ended_well(self) -> bool:
        """False where the program failed: less of it ran than the comparison is meant for."""
        return self.ended == ENDED_WELL

    @property
    def found(self) -> int:
        """How many of the lines that forced are flagged."""
        return sum(bool(each.flagged) for each in self.forced)

    @property
    def confirmed(self) -> int:
        """How many of the flagged lines are confirmed."""
        return sum(each.confirmed for each in self.flagged)

    @property
    def disagreements(self) -> list[Forced | Flagged]:
        """The lines of which one half says what the other does not."""
        return [
            *[each for each in self.forced if not each.flagged],
            *[each for each in self.flagged if not each.confirmed],
        ]

    def as_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self)


def compare(summary: Summary, linted: Linted) -> Agreement:
    """Hold the findings of the files that a recorded run went through against the run."""
    spans = [span for file, lines in summary.ran.items() for span in linted.spans(file) if _ran(span.place, lines)]
    forced = sorted(
        [*_executions(summary, spans), *_recompiles(summary, spans)], key=lambda each: (each.file, each.line)
    )
    flagged = [_judged(span, summary) for span in spans if span.costs]
    elsewhere = sum(row.executions for row in summary.rows if not row.file)
    return Agreement(shlex.split(summary.command)[1], summary.ended, forced, flagged, elsewhere)


def _steady(number: int, steps: int) -> bool:
    return number >= OFTEN and number > TOO_MANY * steps


def _ran(place: Stretch, lines: Sequence[int]) -> bool:
    return any(place.first <= line <= place.last for line in lines)


def _executions(summary: Summary, spans: Sequence[Span]) -> Iterator[Forced]:
    for row in summary.rows:
        if _steady(row.forced, row.forced_steps):
            here = [span for span in spans if span.shows(row.file, row.line)]
            rules = [span.symbol for span in here if span.costs & {Counter.EXECUTIONS, Counter.READS}]
            yield Forced(row.file, row.line, "executions", row.forced, row.cause, rules[0] if rules else "")


def _recompiles(summary: Summary, spans: Sequence[Span]) -> Iterator[Forced]:
    for row in summary.rows:
        reasons = [reason for reason in summary.reasons if (reason.file, reason.line) == (row.file, row.line)]
        number = sum(reason.number for reason in reasons)
        if row.file and _steady(number, row.recompiled_steps):
            rules = [span.symbol for reason in reasons for span in spans if reason.explained_by(span)]
            why = "; ".join(reason.words for reason in reasons)
            yield Forced(row.file, row.line, "recompiles", number, why, rules[0] if rules else "")


def _judged(span: Span, summary: Summary) -> Flagged:
    counters = moved(span, summary.rows, summary.reasons)
    recorded = ", ".join(f"{number} {counter.value}" for counter, number in counters.items() if number)
    return Flagged(span.place.file, span.place.first, span.symbol, confirmed(span, counters), recorded or "nothing")
