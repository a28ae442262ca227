"""Where a finding stands in its file: the same line that pylint reports, and columns in characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.cli.results import Extent, Located
from xla_lint.pages import SEVERITIES
from xla_lint.program.syntax.spelling import line_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from astroid import nodes

    from xla_lint.rules.base import Finding


def place_of(node: nodes.NodeNG, lines: Sequence[str]) -> Extent:
    """The extent of a node; of a function or a class, that of its head. `lines` are those of the file."""
    extent = node.position or node
    line = line_of(node)
    end_line = extent.end_lineno or line
    column = _characters(lines, line, extent.col_offset or 0)
    end = _characters(lines, end_line, extent.end_col_offset) if extent.end_col_offset else column
    return Extent(line, column + 1, end_line, end + 1)


def located(finding: Finding, path: str, lines: Sequence[str], *, asked_for: bool) -> Located:
    """A finding as plain data; `asked_for` tells whether a comment switches it on."""
    place = place_of(finding.node, lines)
    return Located(
        path,
        place,
        finding.rule.code(),
        finding.rule.symbol,
        SEVERITIES[finding.rule.severity],
        finding.confidence.value,
        finding.message,
        lines[place.line - 1] if place.line <= len(lines) else "",
        asked_for=asked_for,
    )


def _characters(lines: Sequence[str], line: int, offset: int) -> int:
    """The number of characters that the first `offset` bytes of a line in UTF-8 hold."""
    text = lines[line - 1] if line <= len(lines) else ""
    return offset if text.isascii() else len(text.encode()[:offset].decode(errors="ignore"))
