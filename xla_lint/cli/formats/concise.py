"""Findings for other tools and for a first look: a line each, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from xla_lint.cli.formats.text import heading, plain

if TYPE_CHECKING:
    from xla_lint.cli.results import Results


def write(results: Results, stream: TextIO) -> None:
    """Write `path:line:column: W9701 xla-value-read message` for each finding to a stream."""
    for finding in results.findings:
        print(plain(heading(finding, 0)), file=stream)
