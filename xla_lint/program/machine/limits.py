"""What bounds the analysis of a program, and what was given up where a bound was reached."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from astroid import nodes

WORK = 100_000
"""How many statements are run for one program at most, counting each time that one is run."""
MOST_CALLS = 24
"""How deep calls are followed."""
MOST_MODULES = 40
"""How many modules of the project are run for one program at most."""


class Limit(enum.Enum):
    """A bound, as the user is told of it at the place where it was reached."""

    WORK = f"a program is followed for {WORK:,} statements; calls from here on are not followed"
    CALLS = f"calls are followed {MOST_CALLS} deep; this one is not followed"
    RUNS = "this function has been followed for too many different arguments; further calls of it are not followed"
    MODULES = f"a program is followed through {MOST_MODULES} modules; this one is not followed"


class GivenUp(NamedTuple):
    """One place where the analysis of a program stopped short."""

    limit: Limit
    node: nodes.NodeNG


class Limits:
    """How much a run may still do, and where it stopped short."""

    def __init__(self, work: int = WORK) -> None:
        self.work = work
        """How many more statements may be run before calls are no longer followed."""
        self._given_up: dict[tuple[Limit, nodes.NodeNG], GivenUp] = {}

    def give_up(self, limit: Limit, node: nodes.NodeNG) -> None:
        """Note that a bound was reached at a node."""
        self._given_up.setdefault((limit, node), GivenUp(limit, node))

    def exhausted(self, node: nodes.NodeNG) -> bool:
        """Whether the work of a run is used up, which is noted at the first node that asks then."""
        if self.work > 0:
            return False
        if not any(limit is Limit.WORK for limit, _ in self._given_up):
            self.give_up(Limit.WORK, node)
        return True

    @property
    def given_up(self) -> tuple[GivenUp, ...]:
        """Where the run stopped short, in the order in which it did."""
        return tuple(self._given_up.values())
