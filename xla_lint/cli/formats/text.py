"""Findings for people: the message, then the source line with the place marked."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from xla_lint.cli.results import spot

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from xla_lint.cli.results import Located, Results

COLOURS = {"error": "bold red", "warning": "bold yellow", "refactor": "bold cyan", "advice": "bold blue"}
INDENT = "    "
FOLDED = frozenset({"xla-removed-api", "xla-deprecated-api"})
"""The symbols whose findings come by the dozen in old files, each with the same remedy."""


def write(results: Results, stream: TextIO) -> None:
    """Write the findings to a stream: each on one line, folded only on a terminal; rich decides on colours."""
    console = Console(file=stream, soft_wrap=True, highlight=False)
    width = console.width if stream.isatty() else 0
    for finding, others in folded(results.findings):
        console.print(heading(finding, width, others))
        if finding.source.strip():
            console.print(excerpt(finding))


def folded(findings: Iterable[Located]) -> list[tuple[Located, list[Located]]]:
    """Each finding with those that say the same of the same file, where one line is enough for all of them."""
    groups: dict[object, list[Located]] = {}
    for number, finding in enumerate(findings):
        key = (finding.path, finding.symbol, finding.message) if finding.symbol in FOLDED else number
        groups.setdefault(key, []).append(finding)
    return [(first, others) for first, *others in groups.values()]


def again(others: Sequence[Located]) -> str:
    """Where else a finding stands, in brackets with a leading space; empty where nowhere."""
    places = dict.fromkeys(
        f"cell {other.cell} line {other.place.line}" if other.cell else str(other.place.line) for other in others
    )
    if not places:
        return ""
    return f" (also {'in' if others[0].cell else 'on line' if len(places) == 1 else 'on lines'} {', '.join(places)})"


def heading(finding: Located, width: int, others: Sequence[Located] = ()) -> Text:
    """`path:line:col: W9701 xla-value-read message`, folded at `width` columns unless that is 0.

    `others` are findings that say the same of other lines.
    """
    place = f"{spot(printable(finding.path), finding.cell, finding.place.line, finding.place.column)}:"
    rule = f"{finding.code} {finding.symbol}"
    line = f"{place} {rule} {printable(finding.message)}{again(others)}"
    if width:
        line = textwrap.fill(line, width, subsequent_indent=INDENT, break_long_words=False, break_on_hyphens=False)
    text = Text(line)
    text.stylize("bold", 0, len(place))
    text.stylize(COLOURS[finding.severity], len(place) + 1, len(place) + 1 + len(rule))
    return text


def excerpt(finding: Located) -> Text:
    """The source line, and carets below the extent of the finding on it."""
    source = printable(finding.source.rstrip())
    start = min(finding.place.column - 1, len(source) - 1)
    one_line = finding.place.end_line == finding.place.line
    end = max(start + 1, min(finding.place.end_column - 1 if one_line else len(source), len(source)))
    carets = " " * cell_len(source[:start]) + "^" * cell_len(source[start:end])
    return Text.assemble(INDENT, source, "\n", INDENT, (carets, COLOURS[finding.severity]))


def printable(text: str) -> str:
    """The text with a space for each character that would move the cursor or change the terminal."""
    return "".join(character if character.isprintable() else " " for character in text)
