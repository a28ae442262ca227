"""What a check found, as plain data: no tree is kept."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xla_lint.cli.config import Choice
    from xla_lint.fixes.changes import Repair
    from xla_lint.places import Extent
    from xla_lint.program.project.dependency_log import Dependencies


MOST_NAMED = 3
"""How many files are named where several are meant."""


class Reason(NamedTuple):
    """A link of the evidence for a finding, where it stands."""

    path: str | None
    """The absolute path of its file, None where that is the file of the finding."""
    place: Extent
    message: str
    source: str
    """The line on which it begins."""
    cell: int | None = None
    """As for a finding."""


class Edit(NamedTuple):
    """A stretch of the finding's file, and what to write there."""

    place: Extent
    text: str


class Fix(NamedTuple):
    """A change that ends a finding."""

    title: str
    safe: bool
    """Whether the program computes the same afterwards."""
    edits: tuple[Edit, ...]
    """From the first line on, none of them overlapping."""


class Located(NamedTuple):
    """A finding, where it stands."""

    path: str
    place: Extent
    code: str
    symbol: str
    severity: str
    """error, warning, refactor or advice."""
    confidence: str
    message: str
    source: str
    """The line on which it begins."""
    cell: int | None = None
    """The cell of the notebook in which it stands, from 1, text cells counted too; the lines are those of the cell."""
    asked_for: bool = False
    """Whether a comment in the code switches its rule on there, whatever rules are chosen."""
    page: str = ""
    """Where its rule is explained."""
    evidence: tuple[Reason, ...] = ()
    """Why it holds, in the order in which the program comes by."""
    repair: Repair | None = None
    """What ends it, as its rule says it: no edits yet; None where nothing does, and in a notebook."""
    fixes: tuple[Fix, ...] = ()
    """The edits that do it, where the format carries them."""


class Problem(NamedTuple):
    """A file, a folder or a cell that could not be checked."""

    path: str
    message: str
    line: int | None = None
    cell: int | None = None

    def __str__(self) -> str:
        return f"{spot(self.path, self.cell, self.line)}: {self.message}"


def shown(path: str | None, beside: str) -> str:
    """A path as the user is told it, who wrote the one of the finding beside which it is told; None: that one."""
    if path is None:
        return beside
    return path if os.path.isabs(beside) else os.path.relpath(path)  # noqa: PTH117


def spot(path: str, cell: int | None, *numbers: int | None) -> str:
    """`path:line:column` or `path:cell 3:line:column`, as far as they are known."""
    parts = [path, f"cell {cell}" if cell else None, *(str(number) if number else None for number in numbers)]
    return ":".join(part for part in parts if part is not None)


class Basis(NamedTuple):
    """What an analysis was made from."""

    source: bytes
    dependencies: Dependencies
    """What it asked of the project."""


@dataclass(slots=True)
class Outcome:
    """What the check of one file gave."""

    path: str
    findings: list[Located] = field(default_factory=list)
    """All that no comment in the code switches off: what is chosen among them is reported."""
    problems: list[Problem] = field(default_factory=list)
    limits: list[Problem] = field(default_factory=list)
    """Where the analysis reached one of its bounds, which is no problem of the file's."""
    outside: bool = False
    """Whether no rule is for it: it belongs to no XLA program, nor to one of another kind."""
    only: str = ""
    """The name of the kind of programs of which alone the rules were applied; empty where all or none were."""
    trains: bool = False
    """Whether it holds training code, to which most rules were not applied: it is outside the XLA scope."""
    read: bool = True
    """Whether there is such a file, which can be read."""
    failed: bool = False
    """Whether an error of our own ended a part of the check, which is then tried again at the next time."""
    skipped: str = ""
    """Why it was not looked at, though nothing is wrong with it."""
    basis: Basis | None = None
    """What it was made from; None where that is known to the cache already, or nothing was analysed."""


@dataclass(slots=True)
class Results:
    """What a check of several files found."""

    findings: list[Located] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    limits: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What the user should know though nothing is wrong, a line each."""
    checked: int = 0
    """The files that were read."""
    outside: int = 0
    """Those among them that no rule is for."""
    only: Counter[str] = field(default_factory=Counter)
    """How many among them were checked by the rules of one kind of programs alone, by the name of that kind."""
    unchecked: list[str] = field(default_factory=list)
    """The files with training code to which most rules were not applied."""
    excluded: int = 0
    """The files that were left out because the user excludes them."""
    known: Counter[str] = field(default_factory=Counter)
    """How many findings are not reported, by where they are known from."""
    reasons: bool = False
    """Whether people are told why each finding holds."""
    failing: int = 0
    """The findings that fail the check."""

    def add(self, outcome: Outcome) -> None:
        """Add what the check of a file gave, but for its findings."""
        self.problems += (problem for problem in outcome.problems if problem not in self.problems)
        self.limits += (limit for limit in outcome.limits if limit not in self.limits)
        self.checked += outcome.read and not outcome.skipped
        self.outside += outcome.outside
        if outcome.only:
            self.only[outcome.only] += 1
        if outcome.trains:
            self.unchecked.append(outcome.path)
        if outcome.skipped:
            self.notes.append(f"{outcome.path}: skipped, {outcome.skipped}")

    def report(self, findings: Iterable[tuple[Located, Choice]]) -> None:
        """Add findings that are reported, each with what the user chose for its file."""
        for finding, choice in findings:
            self.findings.append(finding)
            self.failing += choice.fails(finding)

    @property
    def status(self) -> int:
        """The exit status: 2 where something could not be checked, else 1 where a finding fails the check, else 0."""
        if self.problems:
            return 2
        return 1 if self.failing else 0

    @property
    def summary(self) -> str:
        """One line."""
        hit = len({finding.path for finding in self.findings})
        parts = [f"{counted_as(self.checked, 'file')} checked"]
        parts += (f"{number} of them by the {name} rules only" for name, number in sorted(self.only.items()))
        if self.outside:
            parts.append(f"{self.outside} of them outside the XLA scope")
        if self.excluded:
            parts.append(f"{self.excluded} excluded")
        parts += (f"{number} {where}" for where, number in sorted(self.known.items()) if number)
        if self.problems:
            parts.append(counted_as(len(self.problems), "problem"))
        found = f"{counted_as(len(self.findings), 'finding')} in {counted_as(hit, 'file')}" if hit else "no findings"
        return f"{found} ({', '.join(parts)})"

    @property
    def left_out(self) -> str:
        """What the user should know of training code that was not checked in full, one line; empty where all was."""
        if not self.unchecked:
            return ""
        named, more = self.unchecked[:MOST_NAMED], len(self.unchecked) - MOST_NAMED
        where = ", ".join(named) + (f" and {more} more" if more > 0 else "")
        one = len(self.unchecked) == 1
        return (
            f"{counted_as(len(self.unchecked), 'file')} with training code {'belongs' if one else 'belong'} to no XLA "
            f"program that could be recognised, so most rules were not applied: {where}; "
            "--xla-scope=all applies them"
        )


def counted_as(number: int, noun: str) -> str:
    """A number with its noun in the singular or the plural."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
