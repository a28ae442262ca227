"""What the linter says about the files that a run went through, and which rule explains what a line did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint import failures
from xla_lint.engine import Settings
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import SourceError, decode, parse, read
from xla_lint.program.syntax.spelling import line_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from xla_lint.rules.base import Finding
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
FREE = frozenset({"closure", "save"})
"""How the callback of a step closure reads, and what saves a checkpoint: as they may."""
CANDIDATES = 2
"""The rules that a report names for a recompile where the linter supports none of them."""
COUNTED = ("xla-data-dependent-shape",)
MASKS = frozenset({"aten::nonzero", "aten::masked_select", "aten::unique", "aten::_unique2", "aten::repeat_interleave"})
"""Fallbacks whose result's shape depends on values."""
TOO_MANY = 0.5
"""Compiles or reads per step of a warm program that torch_xla's own analysis calls too many."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some lines of a file, both ends included."""

    file: str
    first: int
    last: int

    def holds(self, file: str, line: int) -> bool:
        """Whether a line is one of them."""
        return self.file == file and self.first <= line <= self.last


@dataclass(frozen=True, slots=True)
class Span:
    """A finding of the linter: the lines that its node covers, its rule, and where a run shows what it costs."""

    place: Stretch
    symbol: str
    shown: tuple[Stretch, ...]

    def shows(self, file: str, line: int) -> bool:
        """Whether a line is among those where a run shows the cost."""
        return any(stretch.holds(file, line) for stretch in self.shown)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What explains something: a rule, or the few that the evidence allows; and whether the linter says so too."""

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
        self.problems: list[str] = []
        """The files that could not be checked, and why."""

    def of_line(self, line: Line, steps: int) -> Verdict | None:
        """The rule that explains the reads of a line.

        None where it only did what it was asked to; and where the linter is silent and there is less than one read in
        two steps, since a read now and then is no mistake.
        """
        if line.place is None or not (line.pending_reads or line.late_reads):
            return None
        free = line.manners.keys() <= FREE
        expected = (
            [READING[how] for how, _ in line.manners.most_common() if how not in FREE] if line.pending_reads else []
        )
        expected += [LATE] if line.late_reads and not free else []
        there = [span.symbol for span in self.showing(line.place.file, line.place.line)]
        same = [symbol for symbol in there if symbol in expected]
        reads = [symbol for symbol in there if _is_read(symbol)]
        found = [*same, *reads, *there]
        if found:
            return Verdict(found[0], linted=True)
        number = line.pending_reads + line.late_reads
        return Verdict(expected[0], linted=False) if expected and number > max(1, TOO_MANY * steps) else None

    def showing(self, file: str, line: int) -> list[Span]:
        """The findings, of this file and of all that were checked before, whose cost shows at a line."""
        self.spans(file)
        return [span for spans in self._spans.values() for span in spans if span.shows(file, line)]

    def of_recompile(self, recompile: Recompile, fallbacks: Collection[str]) -> Verdict | None:
        """The rule that explains a recompile: among those that the change allows, one that the linter found.

        `fallbacks` are the operations that ran on the CPU.
        """
        change, rules = recompile.change, allowed_rules(recompile, fallbacks)
        if change is None or not rules:
            return None
        files = dict.fromkeys([file for file in (change.file, recompile.place.file) if file])
        found = {span.symbol for file in files for span in self.spans(file)}
        for symbol in rules:
            if symbol in found:
                return Verdict(symbol, linted=True)
        return Verdict(" or ".join(rules[:CANDIDATES]), linted=False)

    def spans(self, file: str) -> Sequence[Span]:
        """The findings of a file; none where it cannot be read or checked."""
        if file not in self._spans:
            try:
                module = parse(decode(read(file)), file)
            except SourceError as error:
                self._spans[file] = []
                if not file.startswith("<"):
                    self.problems.append(f"{file}: the linter could not check it: {error}")
            else:
                checked = failures.check(module, Project.around(file), Settings())
                self._spans[file] = [span(finding) for finding in (*checked.findings, *checked.ignored)]
                self.problems += (f"{failure.path or file}: {failure.message}" for failure in checked.failures)
        return self._spans[file]


def allowed_rules(recompile: Recompile, fallbacks: Collection[str]) -> tuple[str, ...]:
    """The rules that may explain a recompile, likeliest first. `fallbacks` are the operations that ran on the CPU."""
    change = recompile.change
    if change is None or not change.rules:
        return ()
    return (*COUNTED, *change.rules) if change.rows and not MASKS.isdisjoint(fallbacks) else change.rules


def _is_read(symbol: str) -> bool:
    return symbol.endswith("-read") or symbol in READING.values()


def span(finding: Finding) -> Span:
    """Where a finding stands, and where a run shows its cost."""
    place = _stretch(finding.node)
    return Span(place, finding.rule.symbol, tuple(map(_stretch, finding.cost_shows_at)) or (place,))


def _stretch(node: nodes.NodeNG) -> Stretch:
    return Stretch(str(node.root().file), line_of(node), _last_line(node))


def _last_line(node: nodes.NodeNG) -> int:
    """The last line of an expression or a simple statement; of a compound one, that of its head."""
    if isinstance(node, (nodes.For, nodes.While, nodes.If, nodes.With, nodes.Try, nodes.FunctionDef, nodes.ClassDef)):
        return line_of(node)
    return int(node.end_lineno or line_of(node))
