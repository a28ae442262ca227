"""Room for recursion: deeply nested code must not stop the linter."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

FRAMES = 4000
"""Enough to build the tree of a 500-deep expression and interpret it.

Before Python 3.12 a resumed generator takes space on the C stack: this many still fit into two megabytes, the
smallest main stack among the common platforms.
"""

TOO_DEEP = "the code is nested too deeply to be analysed"
"""What the user reads where even that is not enough."""


@contextmanager
def room_to_recurse() -> Iterator[None]:
    """Raise the interpreter's recursion limit to `FRAMES` for a while; never lower it."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
