"""What the linter says about the files that a run went through, and which rule explains what a line did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xla_lint.engine import Settings
from xla_lint.failures import AnalysisError, findings_of
from xla_lint.program.project import Project
from xla_lint.program.source import SourceError, decode, parse, read

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from xla_lint.runtime.collect import Line, Recompile

READING = {
    "value": "xla-value-read",
    "copy": "xla-value-read",
    "format": "xla-print-tensor",
    "branch": "xla-tensor-branch",
    "fallback": "xla-cpu-fallback",
}
"""The rule for a pending read, by how the line reads."""
LATE = "xla-late-read"


@dataclass(frozen=True, slots=True)
class Span:
    """A finding of the linter: the lines that its node covers, and its rule."""

    first: int
    last: int
    symbol: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The rule that explains something, and whether the linter says so too."""

    symbol: str
    linted: bool

    @property
    def words(self) -> str:
        """As the report says it."""
        return "found by the linter too" if self.linted else "seen only at run time"


class Linted:
    """The findings of the files that appear in a run, each file checked once."""

    def __init__(self) -> None:
        self._spans: dict[str, list[Span]] = {}

    def of_line(self, line: Line) -> Verdict | None:
        """The rule that explains the reads of a line; None where it only did what it was asked to."""
        if line.place is None or not (line.pending_reads or line.late_reads):
            return None
        expected = [READING[how] for how, _ in line.manners.most_common()] if line.pending_reads else []
        expected += [LATE] if line.late_reads else []
        there = [span.symbol for span in self.spans(line.place.file) if span.first <= line.place.line <= span.last]
        same = [symbol for symbol in there if symbol in expected]
        reads = [symbol for symbol in there if _is_read(symbol)]
        found = [*same, *reads, *there]
        return Verdict(found[0], linted=True) if found else Verdict(expected[0], linted=False)

    def of_recompile(self, recompile: Recompile) -> Verdict | None:
        """The rule that explains a recompile: among those that the change allows, one that the linter found."""
        change = recompile.change
        if change is None or not change.rules:
            return None
        files = dict.fromkeys([file for file in (change.file, recompile.place.file) if file])
        found = {span.symbol for file in files for span in self.spans(file)}
        for symbol in change.rules:
            if symbol in found:
                return Verdict(symbol, linted=True)
        return Verdict(change.rules[0], linted=False)

    def spans(self, file: str) -> Sequence[Span]:
        """The findings of a file; none where it cannot be read or checked."""
        if file not in self._spans:
            self._spans[file] = list(_check(file))
        return self._spans[file]


def _is_read(symbol: str) -> bool:
    return symbol.endswith("-read") or symbol in READING.values()


def _check(file: str) -> Iterable[Span]:
    try:
        module = parse(decode(read(file)), file)
        found = findings_of(module, Project.around(file), Settings())
    except (SourceError, AnalysisError):
        return
    for finding in found:
        node = finding.node
        yield Span(node.lineno or 1, node.end_lineno or node.lineno or 1, finding.rule.symbol)
