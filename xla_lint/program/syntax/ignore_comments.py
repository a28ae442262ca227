"""Comments that leave out findings: `# xla-lint: ignore[xla-value-read] one read an epoch is meant`.

At the end of a line, such a comment is for the logical line that it stands in; on a line of its own, for the next one.
"""

from __future__ import annotations

import io
import re
import tokenize
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ADDRESSED = re.compile(r"#\s*xla[-_ ]?lint\s*:\s*(?P<verb>[\w-]+)\s*(?P<names>[\[(=][^\])]*[\])]?)?", re.IGNORECASE)
"""A comment that speaks to the linter, by a word and perhaps names in brackets."""
MEANT = frozenset({"disable", "ignore", "ignored", "noqa", "off", "silence", "skip", "suppress"})
"""Words that ask for what this comment does; with any other one and no brackets, people speak to each other."""
WORD = "ignore"
SILENT = frozenset({tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING})
FORM = "# xla-lint: ignore[xla-value-read] the reason"


class IgnoreText(NamedTuple):
    """One such comment as it is written."""

    line: int
    start: int
    """The column of its first character, from 0."""
    end: int
    first: int
    """The first of the lines that it is for."""
    last: int
    names: tuple[str, ...] = ()
    """The rules that it names."""
    problem: str = ""
    """Why it does nothing, as a part of a sentence about it; empty where it is well formed."""


def ignore_comments(text: str) -> Iterator[IgnoreText]:
    """The comments of a module's text that leave out findings, or are meant to."""
    waiting: list[tokenize.TokenInfo] = []
    first, begun, decorates = 0, False, False
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and ADDRESSED.search(token.string):
            waiting.append(token)
        elif token.type in (tokenize.NEWLINE, tokenize.ENDMARKER):
            if not decorates:
                yield from (_read(comment, first or token.start[0], token.start[0]) for comment in waiting)
                waiting, first = [], 0
            begun = False
        elif token.type not in SILENT and not begun:
            begun, decorates = True, token.string == "@"
            first = first or token.start[0]


def _read(comment: tokenize.TokenInfo, first: int, last: int) -> IgnoreText:
    match = ADDRESSED.search(comment.string)
    assert match is not None
    (line, start), end = comment.start, comment.end[1]
    start += match.start()
    verb, names = match["verb"], match["names"] or ""
    listed = tuple(name for name in re.split(r"[\s,]+", names[1:-1]) if name)
    if verb.lower() not in MEANT and not names:
        return IgnoreText(line, start, end, first, last)
    if verb != WORD or not names.startswith("[") or not match[0].startswith("# xla-lint:"):
        return IgnoreText(line, start, end, first, last, problem=f"is not understood; write it like '{FORM}'")
    if not names.endswith("]"):
        return IgnoreText(line, start, end, first, last, problem=f"has no closing bracket; write it like '{FORM}'")
    if not listed:
        return IgnoreText(line, start, end, first, last, problem=f"names no rule; write it like '{FORM}'")
    return IgnoreText(line, start, end, first, last, listed)
