"""What the linter says about the files that a run went through, and which rule explains what a line did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xla_lint import failures
from xla_lint.engine import Settings
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import SourceError, parse
from xla_lint.runtime.places import is_ours, is_own
from xla_lint.runtime.sources import source_of
from xla_lint.runtime.spans import UNTIED, Span, real, span

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from xla_lint.runtime.collect import Line
    from xla_lint.runtime.places import Place
    from xla_lint.runtime.spans import Evidence

READING = {
    "value": "xla-value-read",
    "copy": "xla-value-read",
    "format": "xla-print-tensor",
    "branch": "xla-tensor-branch",
    "fallback": "xla-cpu-fallback",
}
"""The rule for a pending read, by how the line reads."""
LATE, DATA_DEPENDENT = "xla-late-read", "xla-data-dependent-shape"
SPLIT = "xla-split-step"
CUTTING = (SPLIT, "xla-redundant-sync", "xla-conditional-sync")
"""The rules about where barriers stand."""
FREE = frozenset({"closure", "save"})
"""How the callback of a step closure reads, and what saves a checkpoint: as they may."""
FOUND, ALONE = "found by the linter too", "seen only at run time"
"""What is said of a rule that explains what a run shows."""
TOO_MANY = 0.5
"""Compiles or reads per step of a warm program that torch_xla's own analysis calls too many."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The rule that explains something, and whether the linter says so too."""

    symbol: str
    linted: bool

    @property
    def words(self) -> str:
        """As the report says it."""
        return FOUND if self.linted else ALONE


class Linted:
    """The findings of the files that appear in a run, each file checked once."""

    def __init__(self) -> None:
        self._spans: dict[str, list[Span]] = {}
        self.problems: list[str] = []
        """The files that could not be checked, and why."""

    def of_line(self, line: Line, steps: int, *, splits: bool = False) -> Verdict | None:
        """The rule that explains the reads or the barriers of a line.

        None where it only did what it was asked to; and where the linter is silent and there is less than one read in
        two steps, since a read now and then is no mistake. `splits` says that it is one of several barriers in a step.
        """
        place = line.place.own
        if place is None:
            return None
        there = [span.symbol for span in self.showing(place.file, place.line)]
        if line.pending_reads or line.late_reads:
            return self._of_reads(line, there, steps)
        cuts = [symbol for symbol in there if symbol in CUTTING] if line.barriers else []
        if cuts:
            return Verdict(cuts[0], linted=True)
        return Verdict(SPLIT, linted=False) if splits else None

    def splits(self, place: Place) -> bool:
        """Whether the linter says of a barrier that it splits a step."""
        own = place.own
        return own is not None and any(span.symbol == SPLIT for span in self.showing(own.file, own.line))

    def _of_reads(self, line: Line, there: Sequence[str], steps: int) -> Verdict | None:
        free = line.manners.keys() <= FREE
        expected = (
            [READING[how] for how, _ in line.manners.most_common() if how not in FREE] if line.pending_reads else []
        )
        expected += [LATE] if line.late_reads and not free else []
        if "fallback" in line.manners and line.pending_reads:
            expected.append(DATA_DEPENDENT)  # such operations may give what depends on values
        same = [symbol for symbol in there if symbol in expected]
        reads = [symbol for symbol in there if _is_read(symbol)]
        if found := [*same, *reads]:
            return Verdict(found[0], linted=True)
        number = line.pending_reads + line.late_reads
        return Verdict(expected[0], linted=False) if expected and number > max(1, TOO_MANY * steps) else None

    def showing(self, file: str, line: int) -> list[Span]:
        """The findings, of this file and of all that were checked before, whose cost shows at a line."""
        self.spans(file)
        return [span for spans in self._spans.values() for span in spans if span.shows(file, line)]

    def tied(self, evidence: Evidence) -> str:
        """The rule whose finding the evidence supports best; empty where there is none."""
        for frame in dict.fromkeys(frame for stack in evidence.stacks for frame in stack):
            if is_checked(frame.file):
                self.spans(frame.file)
        ties = [
            (tie, -evidence.rules.index(found.symbol), found.symbol)
            for spans in self._spans.values()
            for found in spans
            if (tie := evidence.tie(found)) > UNTIED
        ]
        return max(ties, default=(UNTIED, 0, ""))[2]

    def all(self) -> Iterable[Span]:
        """Every finding so far."""
        return [span for spans in self._spans.values() for span in spans]

    def spans(self, file: str) -> Sequence[Span]:
        """The findings of a file; none where it cannot be read or checked."""
        name = real(file)
        if name not in self._spans:
            try:
                module = parse(source_of(file), file)
            except SourceError as error:
                self._spans[name] = []
                if not file.startswith("<"):
                    self.problems.append(f"{file}: the linter could not check it: {error}")
            else:
                checked = failures.check(module, Project.around(file), Settings())
                self._spans[name] = [span(finding) for finding in (*checked.findings, *checked.ignored)]
                self.problems += (f"{failure.path or file}: {failure.message}" for failure in checked.failures)
        return self._spans[name]


def is_checked(file: str) -> bool:
    """True for a file of the program itself."""
    return is_own(file) and not is_ours(file)


def _is_read(symbol: str) -> bool:
    return symbol.endswith("-read") or symbol in READING.values()
