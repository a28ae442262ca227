"""What a run's time went into, line by line, and what could be saved of it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xla_lint.runtime.places import place_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from xla_lint.runtime.history import Compiled
    from xla_lint.runtime.places import Frame
    from xla_lint.runtime.reasons import Reason
    from xla_lint.runtime.summary import Row, Summary
    from xla_lint.runtime.uncut import Uncut


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds for which the host was held up."""

    compiling: float = 0.0
    executing: float = 0.0
    """Collecting the operations of graphs, starting these and, where a value was needed, waiting for them."""
    waiting: float = 0.0
    """For values whose graphs had been started before."""

    @property
    def total(self) -> float:
        """All together."""
        return self.compiling + self.executing + self.waiting

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.compiling + other.compiling, self.executing + other.executing, self.waiting + other.waiting)


@dataclass(frozen=True, slots=True)
class Saving:
    """Something to change."""

    seconds: float | None
    """What changing it saves at most; None where that is not known."""
    rule: str
    """Empty where none is known."""
    reasons: tuple[Reason, ...]
    """What was compiled again; empty where a row, or a graph that no barrier cut, speaks for itself."""
    row: Row | None = None
    uncut: Uncut | None = None


def spent(summary: Summary) -> list[Spent]:
    """What each row of the summary took."""
    compiling: dict[Hashable, float] = defaultdict(float)
    for each in _compiles(summary):
        compiling[_compiled_at(each)] += share(each)
    return [_spent(row, compiling[_row_at(row)]) for row in summary.rows]


def share(compiled: Compiled) -> float:
    """The seconds that one graph took: where several were compiled together, each is given as much."""
    return max(0.0, compiled.seconds) / compiled.together


def savings(summary: Summary) -> list[Saving]:
    """What to change, by what it saves at most; what cannot be told comes last."""
    again: list[Saving] = []
    there: dict[Hashable, float] = defaultdict(float)
    for saving, compiles in _again(summary):
        again.append(saving)
        for each in compiles:
            there[_compiled_at(each)] += share(each)
    causes: list[Reason | Uncut] = [*summary.reasons, *summary.uncut]
    explained = {(each.file, each.line, each.rule) for each in causes}
    lines = [
        Saving(max(0.0, took.total - there[_row_at(row)]), row.rule, (), row)
        for row, took in zip(summary.rows, spent(summary), strict=True)
        if row.rule and (row.file, row.line, row.rule) not in explained
    ]
    grown = [Saving(None, each.rule, (), uncut=each) for each in summary.uncut if each.rule]
    return sorted(
        [*again, *lines, *grown], key=lambda each: -1.0 if each.seconds is None else each.seconds, reverse=True
    )


def _again(summary: Summary) -> Iterator[tuple[Saving, list[Compiled]]]:
    """The recompiles of each line for one kind of reason, and these where the seconds of all are known."""
    groups: dict[Hashable, list[Reason]] = defaultdict(list)
    for reason in summary.reasons:
        groups[reason.file, reason.line, reason.cause, tuple(each.what for each in reason.differences)].append(reason)
    compiles: dict[Hashable, list[Compiled]] = defaultdict(list)
    for each in _compiles(summary):
        if each.against and (own := place_of(each.stack).own):
            compiles[own.file, own.line, each.cause, tuple(told.what for told in each.differences)].append(each)
    for key, reasons in groups.items():
        known = compiles[key]
        whole = len(known) == sum(reason.number for reason in reasons) and all(each.seconds >= 0 for each in known)
        rule = next((reason.rule for reason in reasons if reason.rule), "")
        yield Saving(sum(map(share, known)) if whole else None, rule, tuple(reasons)), known if whole else []


def _compiles(summary: Summary) -> Iterable[Compiled]:
    return (each for part in summary.parts for each in part.compiles)


def _compiled_at(compiled: Compiled) -> Hashable:
    place = place_of(compiled.stack)
    return _at(place.own), _at(place.inside)


def _row_at(row: Row) -> Hashable:
    return (row.file, row.line), (row.inside_file, row.inside_line)


def _at(frame: Frame | None) -> tuple[str, int]:
    return (frame.file, frame.line) if frame else ("", 0)


def _spent(row: Row, compiling: float) -> Spent:
    rest = max(0.0, row.seconds - compiling)
    return Spent(compiling, rest, 0.0) if row.executions else Spent(compiling, 0.0, rest)
