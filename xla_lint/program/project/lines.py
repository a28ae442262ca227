"""Searches in source for what begins a line.

To look for the end of a line is many times faster than to try `^` everywhere: patterns begin with `LINE`, and are given
a source with one more end of line in front.
"""

from __future__ import annotations

LINE = rb"\n"
"""How a pattern begins that holds for the beginnings of lines."""


def lines_of(source: bytes) -> bytes:
    """A source in which each line comes after the end of another one."""
    return b"\n" + source
