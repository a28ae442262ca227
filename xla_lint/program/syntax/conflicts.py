"""Merge conflicts that are not resolved yet: of the two sides of each, ours is the one that counts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

BEGIN = re.compile(r"<{7}( .*)?")
OTHERS = re.compile(r"={7}|\|{7}( .*)?")
"""The end of our side: what was there before follows, where git tells it, or the other side."""
END = re.compile(r">{7}( .*)?")


def ours(lines: Sequence[str]) -> list[str]:
    """The lines of a text with git's marks and what is not ours left blank; as they are where an end is missing."""
    kept = list(lines)
    in_conflict = in_others = False
    for number, line in enumerate(lines):
        if not in_conflict and BEGIN.fullmatch(line):
            in_conflict = True
            kept[number] = ""
        elif in_conflict and OTHERS.fullmatch(line):
            in_others = True
        if in_others:
            kept[number] = ""
            in_conflict = in_others = END.fullmatch(line) is None
    return list(lines) if in_conflict else kept
