"""What has initialised the XLA runtime: many calls, of which each point of a program keeps no more than a bit each."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from astroid import nodes

Touch = tuple["nodes.NodeNG", str]
"""A call that initialises the runtime, and its dotted name."""


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
