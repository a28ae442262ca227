"""A source text with its concrete tree: which node stands where, in which block and scope, and at which offsets."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar, cast

import libcst as cst
import libcst.matchers as m
from libcst.metadata import MetadataWrapper, ParentNodeProvider, PositionProvider, ScopeProvider

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from libcst.metadata import CodeRange, Scope

    from xla_lint.fixes.changes import Span

Node = TypeVar("Node", bound=cst.CSTNode)
Range = tuple[int, int]
"""Two offsets in characters; the second one is the first after."""

LINE_END = re.compile(r"\r\n|\r|\n")
PLACED = (cst.BaseExpression, cst.BaseSmallStatement, cst.BaseStatement)
"""What spans are of."""
Block = cst.Module | cst.IndentedBlock | cst.SimpleStatementSuite


class Document:
    """A text, parsed.

    Raises:
        libcst.ParserSyntaxError: the text is not Python.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
        self.module = self._wrapper.module
        self.newline = self.module.default_newline
        self._starts = [0, *(match.end() for match in LINE_END.finditer(text))]

    @cached_property
    def _positions(self) -> Mapping[cst.CSTNode, CodeRange]:
        return cast("Mapping[cst.CSTNode, CodeRange]", self._wrapper.resolve(PositionProvider))

    @cached_property
    def _parents(self) -> Mapping[cst.CSTNode, cst.CSTNode]:
        return self._wrapper.resolve(ParentNodeProvider)

    @cached_property
    def _scopes(self) -> Mapping[cst.CSTNode, Scope | None]:
        return self._wrapper.resolve(ScopeProvider)

    @cached_property
    def _by_range(self) -> Mapping[Range, list[cst.CSTNode]]:
        found: dict[Range, list[cst.CSTNode]] = {}
        for node in filter(lambda node: isinstance(node, PLACED), self._positions):
            found.setdefault(self.range_of(node), []).append(node)
        return found

    # Places.

    def range_of(self, node: cst.CSTNode) -> Range:
        """Where a node begins and ends; brackets around an expression are not counted."""
        place = self._positions[node]
        return (
            self._starts[place.start.line - 1] + place.start.column,
            self._starts[place.end.line - 1] + place.end.column,
        )

    def source(self, node: cst.CSTNode) -> str:
        """A node as it is written, without brackets around it."""
        start, end = self.range_of(node)
        return self.text[start:end]

    def find(self, span: Span, kind: type[Node]) -> Node | None:
        """The node of a kind that stands at a span."""
        place = self._offset(span.line, span.column), self._offset(span.end_line, span.end_column)
        return next((node for node in self._by_range.get(place, ()) if isinstance(node, kind)), None)

    def _offset(self, line: int, column: int) -> int:
        if line > len(self._starts):
            return -1
        start = self._starts[line - 1]
        text = self.text[start : start + column]
        return start + (column if text.isascii() else len(text.encode()[:column].decode(errors="ignore")))

    def line_end(self, offset: int) -> int:
        """Where the line that holds an offset ends, its end of line not counted."""
        match = LINE_END.search(self.text, offset)
        return match.start() if match is not None else len(self.text)

    def line_start(self, offset: int) -> int:
        """Where the line that holds an offset begins."""
        return self._starts[bisect_right(self._starts, offset) - 1]

    def line_after(self, offset: int) -> int:
        """Where the line after the one that holds an offset begins; the end of the text after the last one."""
        match = LINE_END.search(self.text, offset)
        return match.end() if match is not None else len(self.text)

    def position(self, offset: int) -> tuple[int, int]:
        """The line and the column of an offset, both from 1."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def statement_at(self, line: int) -> cst.BaseStatement | None:
        """The statement that begins on a line: the outermost one."""
        return self._by_line.get(line)

    @cached_property
    def _by_line(self) -> Mapping[int, cst.BaseStatement]:
        found: dict[int, cst.BaseStatement] = {}
        for node, place in self._positions.items():
            if isinstance(node, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
                known = found.get(place.start.line)
                if known is None or self._positions[known].start.column > place.start.column:
                    found[place.start.line] = node
        return found

    def statements_until(self, first: Span, last: Span) -> list[cst.CSTNode] | None:
        """The statements of the last one's block, from where the first one stands on; None where it comes later."""
        start, end = self.statement_at(first.line), self.statement_at(last.line)
        if start is None or end is None:
            return None
        body = list(self.block(end).body)
        begin = next((part for part in (start, *self.around(start)) if part in body), None)
        if begin is None or end not in body or body.index(begin) >= body.index(end):
            return None
        return body[body.index(begin) : body.index(end) + 1]

    # Surroundings.

    def around(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes that hold a node, from the inside."""
        outer = self._parents.get(node)
        while outer is not None:
            yield outer
            outer = self._parents.get(outer)

    def statement(self, node: cst.CSTNode) -> cst.BaseStatement | cst.BaseSmallStatement:
        """The innermost statement that holds a node, or is it; that of a line, where it is alone there."""
        for part in (node, *self.around(node)):
            if isinstance(part, cst.SimpleStatementLine) and len(part.body) == 1:
                return part
            if isinstance(part, cst.BaseSmallStatement) and not self._is_alone(part):
                return part
            if isinstance(part, cst.BaseCompoundStatement):
                return part
        raise LookupError("a module is no statement")

    def _is_alone(self, statement: cst.BaseSmallStatement) -> bool:
        line = self._parents[statement]
        return isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1

    def block(self, node: cst.CSTNode) -> Block:
        """The innermost block around a node."""
        return next(part for part in self.around(node) if isinstance(part, Block))

    def indent(self, node: cst.CSTNode) -> str:
        """What stands before a node in its line, if it is blank."""
        start, _ = self.range_of(node)
        before = self.text[self.line_start(start) : start]
        return before if not before.strip() else ""

    def has_long_text(self, node: cst.CSTNode) -> bool:
        """Whether a node holds a text that goes over several lines, whose indentation is a part of it."""
        texts = m.findall(node, m.SimpleString() | m.FormattedString())
        return any(len(self.source(text).splitlines()) > 1 for text in texts)

    def scope(self, node: cst.CSTNode) -> Scope | None:
        """The scope in which the names of a node are looked up."""
        return self._scopes.get(node)
