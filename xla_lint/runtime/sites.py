"""Where graphs are compiled, and which earlier graph a new one is to be compared with: the closest one there."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from xla_lint.runtime.differences import STRUCTURE as STRUCTURAL
from xla_lint.runtime.differences import Difference, differences, is_another
from xla_lint.runtime.graphs import comparable

if TYPE_CHECKING:
    from xla_lint.runtime.graphs import Graph

Key = TypeVar("Key")
ROOM = 300_000
"""The operations of all graphs that a site remembers; the oldest ones but the first go."""
MOST, FEWEST = 32, 2
"""The graphs that it remembers."""
WEIGHT = 3
"""How much more another operation counts than one with another shape or value, when distances are compared."""
ALIKE = 0.5
"""Graphs that share less than this part of their operations are different programs."""


@dataclass(frozen=True, slots=True)
class Known:
    """A graph that was compiled."""

    number: int
    """Among all that the process compiled, from 1."""
    graph: Graph
    traced: bool
    outline: Counter[tuple[str, str]]
    exact: Counter[tuple[str, str, str, str]]
    bare: Counter[str]
    bare_exact: Counter[tuple[str, str, str]]

    def tallies(self, other: Known) -> tuple[Counter[Any], Counter[Any]]:
        """How often each operation is there, without and with its shape and detail: in terms that the other has too."""
        return (self.outline, self.exact) if self.traced and other.traced else (self.bare, self.bare_exact)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A graph against the closest one that was compiled at the same place before."""

    number: int
    """Of the earlier one."""
    operations: int
    """Of the earlier one, likewise."""
    differences: tuple[Difference, ...]
    """Empty where it is not explained."""
    other: bool
    """True where they may be two programs: operations, inputs or results differ, or an input is another tensor."""
    same: bool
    """True where XLA was given the same graph: what differs is known to torch_xla alone."""


@dataclass(slots=True)
class Site:
    """One stack that compiles, for one cause."""

    known: list[Known] = field(default_factory=list)

    def add(self, number: int, graph: Graph) -> Comparison | None:
        """Take in a graph; None where nothing alike was compiled here before."""
        new = _known(number, graph)
        old = min(reversed(self.known), key=lambda each: _distance(each, new), default=None)
        if old is not None and old.traced and not new.traced and old.graph.outline == graph.outline:
            graph = graph.told_by(old.graph)
            new = _known(number, graph)
        self.known.append(new)
        self._forget()
        if old is None or not _alike(old, new):
            return None
        found = tuple(differences(*comparable(old.graph, graph)))
        other = any(each.what in STRUCTURAL or is_another(each) for each in found)
        same = not found and old.tallies(new)[1] == new.tallies(old)[1]
        return Comparison(old.number, len(old.graph.operations), found, other, same)

    def grows(self, graph: Graph) -> bool:
        """True where a graph, which is not added yet, has all operations of the last one, and more."""
        if not self.known:
            return False
        new = _known(0, graph)
        last, now = self.known[-1].tallies(new)[0], new.tallies(self.known[-1])[0]
        return last != now and not last - now

    def _forget(self) -> None:
        while len(self.known) > MOST or (
            len(self.known) > FEWEST and sum(len(each.graph.operations) for each in self.known) > ROOM
        ):
            del self.known[1]


def _known(number: int, graph: Graph) -> Known:
    operations = graph.operations
    return Known(
        number,
        graph,
        graph.traced,
        Counter((each.kind, each.origin) for each in operations),
        Counter((each.kind, each.origin, each.shape, each.detail) for each in operations),
        Counter(each.kind for each in operations),
        Counter((each.kind, each.shape, each.detail) for each in operations),
    )


def _distance(old: Known, new: Known) -> int:
    (outline, exact), (other_outline, other_exact) = old.tallies(new), new.tallies(old)
    return WEIGHT * _apart(outline, other_outline) + _apart(exact, other_exact)


def _alike(old: Known, new: Known) -> bool:
    apart = _apart(old.tallies(new)[0], new.tallies(old)[0])
    return apart <= (1 - ALIKE) * (len(old.graph.operations) + len(new.graph.operations))


def _apart(one: Counter[Key], other: Counter[Key]) -> int:
    return sum(abs(one[key] - other[key]) for key in one.keys() | other.keys())
