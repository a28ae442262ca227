"""How far the linter and the runtime agree, as a table."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from xla_lint.runtime.table import WIDTH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TextIO

    from xla_lint.runtime.agreement import Agreement

HEADINGS = ("program", "lines that forced", "of these flagged", "flagged lines that ran", "of these confirmed", "ended")


def write(agreements: Sequence[Agreement], stream: TextIO) -> None:
    """Write the table and every disagreement."""
    console = Console(file=stream, width=None if stream.isatty() else WIDTH, highlight=False, soft_wrap=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading in {"program", "ended"} else "right", overflow="fold")
    for row in _rows(agreements):
        table.add_row(*map(Text, row))
    console.print(table)
    for sentence in [*_disagreements(agreements), *_elsewhere(agreements)]:
        console.print(Text(sentence))


def markdown(agreements: Sequence[Agreement]) -> str:
    """The same as Markdown; programs of which neither half says anything are counted in one row."""
    lines = [f"| {' | '.join(HEADINGS)} |", "|---|---:|---:|---:|---:|---|"]
    lines += [f"| {' | '.join(row)} |" for row in _rows(agreements)]
    sentences = [f"- {sentence}" for sentence in [*_disagreements(agreements), *_elsewhere(agreements)]]
    return "\n".join([*lines, "", *sentences]) + "\n"


def as_json(agreements: Sequence[Agreement]) -> dict[str, Any]:
    """The same for programs."""
    return {
        "totals": dict(zip(_KEYS, _totals(agreements), strict=True)),
        "runs": [each.as_json() for each in agreements],
    }


_KEYS = ("forced", "forced_and_flagged", "flagged", "flagged_and_confirmed")


def _totals(agreements: Sequence[Agreement]) -> tuple[int, int, int, int]:
    return (
        sum(len(each.forced) for each in agreements),
        sum(each.found for each in agreements),
        sum(len(each.flagged) for each in agreements),
        sum(each.confirmed for each in agreements),
    )


def _rows(agreements: Sequence[Agreement]) -> Iterator[tuple[str, ...]]:
    name = _namer(agreements)
    silent = [each for each in agreements if not each.forced and not each.flagged]
    for each in agreements:
        if each not in silent:
            yield name(each.script), *_figures(*_totals([each])), each.ended
    if silent:
        failed = [each for each in silent if not each.ended_well]
        ended = "ended well" if not failed else f"{len(failed)} of them did not end well"
        yield f"{len(silent)} programs of which neither half says anything", "0", "0", "0", "0", ended
    yield f"all {len(agreements)}", *_figures(*_totals(agreements)), ""


def _figures(forced: int, found: int, flagged: int, confirmed: int) -> Iterator[str]:
    for whole, part in ((forced, found), (flagged, confirmed)):
        yield str(whole)
        yield f"{part} ({part / whole:.0%})" if whole else "0"


def _disagreements(agreements: Sequence[Agreement]) -> Iterator[str]:
    name = _namer(agreements)
    for each in agreements:
        for line in each.disagreements:
            yield f"{name(line.file)}:{line.line}: {line.words}"


def _elsewhere(agreements: Sequence[Agreement]) -> Iterator[str]:
    name = _namer(agreements)
    for each in agreements:
        if each.elsewhere:
            yield f"{name(each.script)}: {each.elsewhere} executions have no Python line"


def _namer(agreements: Sequence[Agreement]) -> Callable[[str], str]:
    """Names files by their path from the folder that holds all the programs."""
    scripts = [each.script for each in agreements]
    folder = os.path.commonpath([Path(script).parent for script in scripts]) if scripts else ""
    return lambda file: str(Path(file).relative_to(folder)) if Path(file).is_relative_to(folder) else file
