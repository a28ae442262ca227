"""The program's own text beside what its lines cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xla_lint.program.project.source import SourceError
from xla_lint.runtime.costs import Spent, spent
from xla_lint.runtime.sources import source_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.runtime.summary import Summary

AROUND = 2
"""The lines that are shown before and after one that cost something."""
FILES, LINES = 8, 40
"""The most files that are shown, and the most of each one's lines that cost something."""


@dataclass(slots=True)
class Marked:
    """A line of the program."""

    number: int
    text: str = ""
    spent: Spent = field(default_factory=Spent)
    compiles: int = 0
    executions: int = 0
    reads: int = 0
    made: list[str] = field(default_factory=list)
    """What changed of what it builds, so that something was compiled again."""
    after_gap: bool = False
    """True where lines before it are left out."""

    @property
    def costs(self) -> bool:
        """Whether the run has anything to say of it."""
        return bool(self.compiles or self.executions or self.reads or self.made)


@dataclass(frozen=True, slots=True)
class Listing:
    """What is shown of one file."""

    file: str
    lines: list[Marked]

    @property
    def seconds(self) -> float:
        """What its lines cost."""
        return sum(line.spent.total for line in self.lines)


def listings(summary: Summary) -> list[Listing]:
    """The files of the program that cost something, the costliest first."""
    files: dict[str, dict[int, Marked]] = {}
    for row, took in zip(summary.rows, spent(summary), strict=True):
        if row.file:
            line = files.setdefault(row.file, {}).setdefault(row.line, Marked(row.line))
            line.spent += took
            line.compiles += row.compiles
            line.executions += row.executions
            line.reads += row.reads
    for told in (told for reason in summary.reasons for told in reason.differences if told.file):
        line = files.setdefault(told.file, {}).setdefault(told.line, Marked(told.line))
        if told.words not in line.made:
            line.made.append(told.words)
    found = [Listing(file, list(_around(file, marked))) for file, marked in files.items()]
    return sorted((each for each in found if each.lines), key=lambda each: -each.seconds)[:FILES]


def _around(file: str, marked: dict[int, Marked]) -> Iterator[Marked]:
    try:
        text = source_of(file).expandtabs(4).splitlines()
    except SourceError:  # the table of lines names it all the same
        return
    shown = sorted(marked, key=lambda number: -marked[number].spent.total)[:LINES]
    near = {number + away for number in shown for away in range(-AROUND, AROUND + 1)}
    before = 0
    for number in sorted(number for number in near if 0 < number <= len(text)):
        line = marked.get(number, Marked(number))
        line.text, line.after_gap = text[number - 1], number != before + 1
        before = number
        yield line
