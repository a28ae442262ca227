"""What has initialised the XLA runtime: many calls, of which each point of a program keeps no more than a bit each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from astroid import nodes

Touch = tuple["nodes.NodeNG", str]
"""A call that initialises the runtime, and its dotted name."""


@dataclass(frozen=True, slots=True)
class Touched:
    """What has initialised the runtime of this process at one point, as bits of `Touches`."""

    always: int = 0
    """On every path that leads here."""
    perhaps: int = 0
    """On some of them, each of which leads here whatever the tests since have said."""

    def by(self, bit: int) -> Touched:
        """After one more call."""
        return Touched(self.always | bit, self.perhaps)

    def meet(self, other: Touched) -> Touched:
        """Where two paths come together."""
        parted = self.always ^ other.always
        return Touched(self.always & other.always, self.perhaps | other.perhaps | parted)

    def under_a_test(self) -> Touched:
        """On one way of a test: which of the calls before were made may be what the test asks."""
        return Touched(self.always)

    def after_a_test(self, before: Touched) -> Touched:
        """Where both ways of a test have come together, whatever it has asked."""
        return Touched(self.always, self.perhaps | before.perhaps)


UNTOUCHED = Touched()


class Touches:
    """The calls of one run that initialise the runtime, each with a bit of its own."""

    def __init__(self) -> None:
        self._bits: dict[Touch, int] = {}

    def bit(self, node: nodes.NodeNG, dotted: str) -> int:
        """The bit of a call."""
        return self._bits.setdefault((node, dotted), 1 << len(self._bits))

    def among(self, bits: int) -> frozenset[Touch]:
        """The calls whose bits are set."""
        return frozenset(touch for touch, bit in self._bits.items() if bits & bit)
