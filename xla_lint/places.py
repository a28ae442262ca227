"""Where nodes stand in their files: the same line that pylint reports, and columns in characters."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from astroid import nodes

from xla_lint.program.project.source import decode
from xla_lint.program.syntax.spelling import line_of

if TYPE_CHECKING:
    from collections.abc import Sequence


class Extent(NamedTuple):
    """A stretch of source. Lines and columns count from 1, columns in characters; the end column is the first after."""

    line: int
    column: int
    end_line: int
    end_column: int


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
    if last is not extent and line_at(lines, end_line)[end:].startswith(":"):
        end += 1
    return Extent(line, column + 1, end_line, end + 1)


def lines_of(module: nodes.Module) -> list[str]:
    """The lines of a module's text."""
    with module.stream() as stream:  # type: ignore[no-untyped-call]
        return decode(stream.read()).split("\n")


def line_at(lines: Sequence[str], number: int) -> str:
    """The line of a number, counted from 1; empty where there is none."""
    return lines[number - 1] if number <= len(lines) else ""


def _characters(lines: Sequence[str], line: int, offset: int) -> int:
    """The number of characters that the first `offset` bytes of a line in UTF-8 hold."""
    text = line_at(lines, line)
    return offset if text.isascii() else len(text.encode()[:offset].decode(errors="ignore"))
