"""Which findings of the linter a run confirms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xla_lint.rules.base import Counter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from xla_lint.runtime.reasons import Reason
    from xla_lint.runtime.spans import Span
    from xla_lint.runtime.summary import Row


@dataclass(frozen=True, slots=True)
class Unconfirmed:
    """A finding of which the run shows nothing: its line did not run, it is wrong, or the cost shows elsewhere."""

    file: str
    line: int
    symbol: str


def moved(span: Span, rows: Iterable[Row], reasons: Iterable[Reason]) -> dict[Counter, int]:
    """By how much the run moved each counter at the lines where the finding's cost shows."""
    shown = [row for row in rows if span.shows(row.file, row.line)]
    return {
        Counter.EXECUTIONS: sum(row.executions for row in shown),
        Counter.READS: sum(row.reads for row in shown),
        Counter.COMPILES: sum(reason.number for reason in reasons if reason.explained_by(span)),
    }


def confirmed(span: Span, counters: dict[Counter, int]) -> bool:
    """Whether one of the counters moved that the finding speaks of."""
    return any(counters[counter] for counter in span.costs)


def unconfirmed(spans: Iterable[Span], rows: Sequence[Row], reasons: Sequence[Reason]) -> Iterator[Unconfirmed]:
    """The findings that a run could confirm, and this one does not."""
    for span in spans:
        if span.costs and not confirmed(span, moved(span, rows, reasons)):
            yield Unconfirmed(span.place.file, span.place.first, span.symbol)
