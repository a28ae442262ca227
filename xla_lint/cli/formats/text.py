"""Findings for people: the message, then the source line with the place marked."""

from __future__ import annotations

import os
import textwrap
from typing import TYPE_CHECKING, TextIO

from xla_lint.cli.results import shown, spot

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from xla_lint.cli.results import Located, Results

COLOURS = {"error": "bold red", "warning": "bold yellow", "refactor": "bold cyan", "advice": "bold blue"}
INDENT = "    "
SURENESS = {
    "HIGH": "every link of this evidence is certain",
    "CONTROL_FLOW": "another path through the code may avoid it",
    "INFERENCE": "a link of this evidence is a convention, such as that calling a model gives a tensor",
}
MOST_CHANGES = 3
"""How many changes are proposed at the end."""
AS_TERMINAL = ("FORCE_COLOR", "TTY_COMPATIBLE")
"""The variables of the environment that let rich take a file for a terminal."""
Styled = list[tuple[str, str]]
"""A text in pieces, each with its style."""


def write(results: Results, stream: TextIO) -> None:
    """Write the findings to a stream: each on one line, folded only on a terminal; rich decides on colours."""
    if not (stream.isatty() or any(map(os.environ.get, AS_TERMINAL))):
        for text in told(results, 0):
            print(plain(text), file=stream)
        return
    from rich.console import Console  # noqa: PLC0415 - only a terminal needs it
    from rich.text import Text  # noqa: PLC0415

    console = Console(file=stream, soft_wrap=True, highlight=False)
    for text in told(results, console.width if stream.isatty() else 0):
        console.print(Text.assemble(*text))


def told(results: Results, width: int) -> Iterator[Styled]:
    """All that there is to say, text by text."""
    for finding, others in folded(results.findings):
        yield heading(finding, width, others)
        if finding.source.strip():
            yield excerpt(finding)
        if results.reasons:
            yield from ([(f"{INDENT}{line}", "dim")] for line in reasons(finding))
    yield from ([(line, "")] for line in proposals(results.findings))


def folded(findings: Iterable[Located]) -> list[tuple[Located, list[Located]]]:
    """Each finding with those that say the very same of the same file."""
    groups: dict[object, list[Located]] = {}
    for finding in findings:
        groups.setdefault((finding.path, finding.symbol, finding.message), []).append(finding)
    return [(first, others) for first, *others in groups.values()]


def reasons(finding: Located) -> Iterator[str]:
    """Why a finding holds, a line for each link of the evidence."""
    for reason in finding.evidence:
        place = spot(printable(shown(reason.path, finding.path)), reason.cell, reason.place.line)
        yield f"because {place}: {printable(reason.message)}"
    yield f"{finding.confidence}: {SURENESS[finding.confidence]}"


def proposals(findings: Sequence[Located]) -> list[str]:
    """The changes that would help most; none where there are no more findings than changes to propose."""
    if len(findings) <= MOST_CHANGES:
        return []
    from xla_lint.cli.cost import changes, price  # noqa: PLC0415 - few findings need no advice

    ordered = changes(findings)
    if len(ordered) <= MOST_CHANGES:
        return []
    lines = ["", "What would help most:"]
    for number, change in enumerate(ordered[:MOST_CHANGES], 1):
        first, *others = change.findings
        place = spot(printable(first.path), first.cell, first.place.line)
        measured = price(first).words()
        cost = f"{first.symbol}: {measured}" if measured else first.symbol
        lines.append(f"  {number}. {place}{again(first, others)}: {printable(change.remedy)} ({cost})")
    return [*lines, ""]


def again(first: Located, others: Sequence[Located]) -> str:
    """Where else a finding stands, in brackets with a leading space; empty where nowhere."""
    here = [each for each in others if (each.cell, each.place.line) == (first.cell, first.place.line)]
    places = dict.fromkeys(
        f"cell {other.cell} line {other.place.line}" if other.cell else str(other.place.line)
        for other in others
        if other not in here
    )
    told = [f"in column {each.place.column}" for each in here[:1]]
    if places:
        told.append(f"{'in' if first.cell else 'on line' if len(places) == 1 else 'on lines'} {', '.join(places)}")
    return f" (also {' and '.join(told)})" if told else ""


def plain(text: Styled) -> str:
    """A text without its styles."""
    return "".join(piece for piece, _ in text)


def heading(finding: Located, width: int, others: Sequence[Located] = ()) -> Styled:
    """`path:line:col: W9701 xla-value-read message`, folded at `width` columns unless that is 0.

    `others` are findings that say the same of other lines.
    """
    place = f"{spot(printable(finding.path), finding.cell, finding.place.line, finding.place.column)}:"
    rule = f"{finding.code} {finding.symbol}"
    line = f"{place} {rule} {printable(finding.message)}{again(finding, others)}"
    if width:
        line = textwrap.fill(line, width, subsequent_indent=INDENT, break_long_words=False, break_on_hyphens=False)
    named = len(place) + 1 + len(rule)
    return [(line[: len(place)], "bold"), (line[len(place) : named], COLOURS[finding.severity]), (line[named:], "")]


def excerpt(finding: Located) -> Styled:
    """The source line, and carets below the extent of the finding on it."""
    source = printable(finding.source.rstrip())
    start = min(finding.place.column - 1, len(source) - 1)
    one_line = finding.place.end_line == finding.place.line
    end = max(start + 1, min(finding.place.end_column - 1 if one_line else len(source), len(source)))
    before, marked = " " * columns(source[:start]), "^" * columns(source[start:end])
    return [(f"{INDENT}{source}\n{INDENT}{before}", ""), (marked, COLOURS[finding.severity])]


def columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # noqa: PLC0415 - few lines need it

    return cell_len(text)


def printable(text: str) -> str:
    """The text with a space for each character that would move the cursor or change the terminal."""
    return "".join(character if character.isprintable() else " " for character in text)
