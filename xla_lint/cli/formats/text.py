"""Findings for people: the message, then the source line with the place marked."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from xla_lint.cli.cost import changes, price
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


def write(results: Results, stream: TextIO) -> None:
    """Write the findings to a stream: each on one line, folded only on a terminal; rich decides on colours."""
    console = Console(file=stream, soft_wrap=True, highlight=False)
    width = console.width if stream.isatty() else 0
    for finding, others in folded(results.findings):
        console.print(heading(finding, width, others))
        if finding.source.strip():
            console.print(excerpt(finding))
        if results.reasons:
            for line in reasons(finding):
                console.print(Text(f"{INDENT}{line}", "dim"))
    for line in proposals(results.findings):
        console.print(Text(line))


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


def heading(finding: Located, width: int, others: Sequence[Located] = ()) -> Text:
    """`path:line:col: W9701 xla-value-read message`, folded at `width` columns unless that is 0.

    `others` are findings that say the same of other lines.
    """
    place = f"{spot(printable(finding.path), finding.cell, finding.place.line, finding.place.column)}:"
    rule = f"{finding.code} {finding.symbol}"
    line = f"{place} {rule} {printable(finding.message)}{again(finding, others)}"
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
