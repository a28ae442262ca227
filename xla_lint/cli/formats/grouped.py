"""Findings by file: its name once, then a line each."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.text import Text

from xla_lint.cli.formats.text import COLOURS, again, folded, printable
from xla_lint.cli.results import spot

if TYPE_CHECKING:
    from xla_lint.cli.results import Results


def write(results: Results, stream: TextIO) -> None:
    """Write the findings of each file below its name to a stream."""
    console = Console(file=stream, soft_wrap=True, highlight=False)
    for path, findings in groupby(results.findings, key=lambda finding: finding.path):
        console.print(Text(printable(path), "bold"))
        for finding, others in folded(findings):
            place = spot("", finding.cell, finding.place.line, finding.place.column).lstrip(":")
            rule = Text(f"{finding.code} {finding.symbol}", COLOURS[finding.severity])
            console.print(Text(f"  {place}  ") + rule + Text(f"  {printable(finding.message)}{again(finding, others)}"))
        console.print()
