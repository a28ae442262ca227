"""What a check found, as plain data: no tree is kept."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of source. Lines and columns count from 1, columns in characters; the end column is the first after."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Located:
    """A finding, where it stands."""

    path: str
    place: Place
    code: str
    symbol: str
    severity: str
    """error, warning, refactor or advice."""
    confidence: str
    message: str
    source: str
    """The line on which it begins."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A file or a folder that could not be checked."""

    path: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}" if self.line else f"{self.path}: {self.message}"


@dataclass(slots=True)
class Results:
    """What a check of several files found."""

    findings: list[Located] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    checked: int = 0
    """The files that were read."""
    outside: int = 0
    """Those among them that belong to no XLA program."""

    @property
    def status(self) -> int:
        """The exit status: 2 where something could not be checked, else 1 where something was found, else 0."""
        if self.problems:
            return 2
        return 1 if self.findings else 0

    @property
    def summary(self) -> str:
        """One line."""
        hit = len({finding.path for finding in self.findings})
        parts = [f"{_count(self.checked, 'file')} checked"]
        if self.outside:
            parts.append(f"{self.outside} of them outside the XLA scope")
        if self.problems:
            parts.append(_count(len(self.problems), "problem"))
        found = f"{_count(len(self.findings), 'finding')} in {_count(hit, 'file')}" if hit else "no findings"
        return f"{found} ({', '.join(parts)})"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
