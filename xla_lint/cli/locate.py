"""Where a finding stands in its file: the same line that pylint reports, and columns in characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.cli.results import Extent, Located, Reason
from xla_lint.pages import SEVERITIES, address
from xla_lint.program.project.source import absolute, decode
from xla_lint.program.syntax.spelling import line_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xla_lint.rules.base import Finding, Link


HEADS: dict[type[nodes.NodeNG], str] = {
    nodes.For: "iter",
    nodes.AsyncFor: "iter",
    nodes.While: "test",
    nodes.If: "test",
}
"""The statements with a body, and the last part of their heads."""


def place_of(node: nodes.NodeNG, lines: Sequence[str]) -> Extent:
    """The extent of a node; of a statement with a body, that of its head. `lines` are those of the file."""
    extent = node.position or node
    line = line_of(node)
    last = getattr(node, HEADS[type(node)]) if type(node) in HEADS else extent
    end_line = last.end_lineno or line
    column = _characters(lines, line, extent.col_offset or 0)
    end = _characters(lines, end_line, last.end_col_offset) if last.end_col_offset else column
    if last is not extent and _line(lines, end_line)[end:].startswith(":"):
        end += 1
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
        _line(lines, place.line),
        asked_for=asked_for,
        page=address(finding.rule),
        evidence=tuple(_reason(link, finding.node.root(), lines) for link in finding.evidence),
    )


def _reason(link: Link, home: nodes.NodeNG, own: Sequence[str]) -> Reason:
    module = link.node.root()
    lines = own if module is home else _lines_of(module)
    if link.line:
        text = _line(lines, link.line)
        start = len(text) - len(text.lstrip())
        place = Extent(link.line, start + 1, link.line, len(text.rstrip()) + 1)
    else:
        place = place_of(link.node, lines)
    path = None if module is home else str(absolute(module.file or module.name))
    return Reason(path, place, link.says, _line(lines, place.line))


def _lines_of(module: nodes.Module) -> list[str]:
    with module.stream() as stream:  # type: ignore[no-untyped-call]
        return decode(stream.read()).split("\n")


def _line(lines: Sequence[str], number: int) -> str:
    return lines[number - 1] if number <= len(lines) else ""


def _characters(lines: Sequence[str], line: int, offset: int) -> int:
    """The number of characters that the first `offset` bytes of a line in UTF-8 hold."""
    text = _line(lines, line)
    return offset if text.isascii() else len(text.encode()[:offset].decode(errors="ignore"))
