"""What a step of a running program is taken to be: by its own loop, not by each barrier that it passes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from xla_lint.runtime.places import NOWHERE

if TYPE_CHECKING:
    from collections.abc import Hashable

    from xla_lint.runtime.places import Place

BARRIER, OPTIMIZER, READ = "barrier", "optimizer step", "read"
"""By what steps are counted: the best of these that a program has."""


class Turns:
    """The turns of a loop that passes several places: each time it comes to the same one, a turn is over."""

    def __init__(self) -> None:
        self.number = 0
        self.place: Place = NOWHERE
        """Where a turn ends."""
        self._end: Hashable = None
        self._since: set[Hashable] = set()

    def passes(self, key: Hashable, place: Place) -> bool:
        """The program is at a place, which `key` tells from others; True where a turn ends there.

        Where the program comes to another place twice without passing the end of the turn, it is in another loop.
        """
        if key != self._end and key not in self._since and self._end is not None:
            self._since.add(key)
            return False
        self._end = key
        self.place = place
        self._since.clear()
        self.number += 1
        return True


class OptimizerSteps:
    """The steps of optimizers. Where there are several, those of the one that made the most."""

    def __init__(self) -> None:
        self._all: Counter[int] = Counter()
        self._since: Counter[int] = Counter()
        self.place: Place = NOWHERE

    def made(self, optimizer: int, place: Place) -> None:
        """One has made a step."""
        self._all[optimizer] += 1
        self._since[optimizer] += 1
        if self.place == NOWHERE:
            self.place = place

    @property
    def number(self) -> int:
        """All of them."""
        return max(self._all.values(), default=0)

    @property
    def since(self) -> int:
        """Those since the last barrier."""
        return max(self._since.values(), default=0)

    def cut(self) -> None:
        """A barrier was passed."""
        self._since.clear()
