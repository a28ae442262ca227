"""The plan of a move: what each file needs, which files come first, and what the work amounts to."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xla_lint.knowledge.successors import Group

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xla_lint.migration.uses import Use

TITLES: dict[Group | None, str] = {
    Group.RENAME: "rename",
    Group.GONE: "goes away",
    Group.THOUGHT: "needs thought",
    None: "not classified",
}
"""How each group is called, in the order of the work."""


@dataclass(frozen=True, slots=True)
class Share:
    """One file's part of the work."""

    path: str
    uses: tuple[Use, ...]

    def of(self, group: Group | None) -> list[Use]:
        """The uses of a group."""
        return [use for use in self.uses if use.group is group]

    @property
    def thoughtful(self) -> int:
        """How many uses a person must decide about."""
        return len(self.of(Group.THOUGHT)) + len(self.of(None))

    @property
    def counts(self) -> str:
        """The number of uses by group, in words."""
        return counted(self.uses)


@dataclass(frozen=True, slots=True)
class Topic:
    """Uses in several places that one decision settles."""

    advice: str
    uses: int
    paths: tuple[str, ...]


@dataclass(slots=True)
class Plan:
    """What must change in all files."""

    target: str
    """The project that the program moves to, as its makers call it."""
    shares: list[Share] = field(default_factory=list)
    """The files with something to change, in the order of the work: those that need no thought, then the others by
    how much they need."""

    @property
    def uses(self) -> list[Use]:
        """All uses."""
        return [use for share in self.shares for use in share.uses]

    @property
    def topics(self) -> list[Topic]:
        """What needs thought, by what is to be decided, the most frequent first."""
        found: dict[str, Counter[str]] = {}
        for share in self.shares:
            for use in (*share.of(Group.THOUGHT), *share.of(None)):
                found.setdefault(use.advice, Counter())[share.path] += 1
        topics = [Topic(advice, paths.total(), tuple(paths)) for advice, paths in found.items()]
        return sorted(topics, key=lambda topic: -topic.uses)


def plan(target: str, uses: Iterable[tuple[str, list[Use]]]) -> Plan:
    """The plan for files with their uses."""
    shares = [Share(path, tuple(found)) for path, found in uses if found]
    return Plan(target, sorted(shares, key=lambda share: (share.thoughtful, share.path)))


def counted(uses: Iterable[Use]) -> str:
    """The number of uses by group, in words: `3 rename, 1 goes away`."""
    counts = Counter(use.group for use in uses)
    return ", ".join(f"{counts[group]} {title}" for group, title in TITLES.items() if counts[group])
