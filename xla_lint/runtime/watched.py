"""The stacks of a running program, each looked at once: walking one costs less than naming its frames."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from types import CodeType, FrameType

Fact = TypeVar("Fact")
ROOM = 4096
"""Stacks that are remembered at once."""


class Known(Generic[Fact]):
    """What `find` says of the stacks of this process, by the code and the instruction of each of their frames."""

    def __init__(self, find: Callable[[FrameType], Fact]) -> None:
        self._find = find
        self._facts: dict[Hashable, tuple[Fact, list[CodeType]]] = {}
        """The codes are held as well, so that none gets the number of another one."""

    def here(self, depth: int = 1) -> tuple[Hashable, Fact]:
        """The stack of the caller, as something to tell it from others, and the fact; `depth` frames are left out."""
        innermost = sys._getframe(depth)
        frame: FrameType | None = innermost
        numbers: list[int] = []
        while frame is not None:  # each barrier and each read comes through here
            numbers.append(id(frame.f_code))
            numbers.append(frame.f_lasti)
            frame = frame.f_back
        key = tuple(numbers)
        known = self._facts.get(key)
        if known is None:
            if len(self._facts) >= ROOM:
                self._facts.clear()
            known = self._facts[key] = self._find(innermost), _codes(innermost)
        return key, known[0]


def _codes(innermost: FrameType) -> list[CodeType]:
    frame: FrameType | None = innermost
    codes = []
    while frame is not None:
        codes.append(frame.f_code)
        frame = frame.f_back
    return codes
