"""What one change would do to a text, before it is decided which changes are made together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import libcst as cst

    from xla_lint.fixes.imports import Binding


class Replacement(NamedTuple):
    """A stretch of text, by offsets in characters, and what takes its place."""

    start: int
    end: int
    text: str

    def meets(self, other: Replacement) -> bool:
        """Whether both want the same characters, or one wants to write in the midst of what the other replaces."""
        return self.start < other.end and other.start < self.end


class Wanted(NamedTuple):
    """An import that is needed."""

    statement: str
    beside: cst.Import | cst.ImportFrom
    """The import beside which it is to stand."""


class Spelled(NamedTuple):
    """How something is written at a place."""

    text: str
    wanted: Wanted | None = None


@dataclass(slots=True)
class Draft:
    """What a change does: all of it is done, or nothing."""

    replacements: list[Replacement] = field(default_factory=list)
    wanted: list[Wanted] = field(default_factory=list)
    unneeded: list[Binding] = field(default_factory=list)
    """What imports need bring no more, though it is used: another import brings it."""

    def replace(self, start: int, end: int, text: str) -> None:
        """Put a text in place of a stretch; in front of `start` if that is empty."""
        self.replacements.append(Replacement(start, end, text))

    def write(self, start: int, end: int, spelled: Spelled) -> None:
        """Put something importable in place of a stretch."""
        self.replace(start, end, spelled.text)
        if spelled.wanted is not None:
            self.wanted.append(spelled.wanted)

    def add(self, other: Draft) -> None:
        """Do what another draft does, too."""
        self.replacements += other.replacements
        self.wanted += other.wanted
        self.unneeded += other.unneeded
