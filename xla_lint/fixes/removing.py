"""Statements that go: calls that nothing takes the place of, and the head of a `with` whose body stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst
import libcst.matchers as m

from xla_lint.fixes.drafts import Draft

if TYPE_CHECKING:
    from collections.abc import Callable

    from xla_lint.fixes.changes import Remove, Unwrap
    from xla_lint.fixes.document import Block, Document
    from xla_lint.fixes.imports import Imports

ACTS = m.Call() | m.NamedExpr() | m.Await() | m.Yield()
"""What may do more than test, in a test."""


def remove(document: Document, imports: Imports, change: Remove) -> Draft | None:
    """Take a statement away, with its line where it has one, and with the test that is left without anything to do."""
    node = document.find(change.at, cst.Assign) or document.find(change.at, cst.Call)
    if node is None:
        return None
    statement = document.statement(node)
    if not isinstance(statement, (cst.SimpleStatementLine, cst.Expr, cst.Assign)):
        return None
    draft = Draft()
    if not isinstance(statement, cst.SimpleStatementLine):
        _remove_beside_others(document, statement, draft)
        return draft
    goes: cst.BaseStatement = statement
    going = _going_with(imports, node)
    while _is_all_there_is(document.block(goes), goes, going):
        owner = next(document.around(document.block(goes)))
        if not isinstance(owner, cst.If) or owner.orelse is not None or not _only_tests(document, owner):
            draft.replace(*document.range_of(goes), "pass")
            return draft
        goes = owner
    draft.replace(document.line_start(document.range_of(goes)[0]), document.line_after(document.range_of(goes)[1]), "")
    return draft


def unwrap(document: Document, imports: Imports, change: Unwrap) -> Draft | None:  # noqa: ARG001 - as drafters are called
    """Take away the head of a `with` that enters one thing, and let its body stand in its place."""
    region = document.statement_at(change.at.line)
    if not isinstance(region, cst.With) or len(region.items) != 1 or not isinstance(region.body, cst.IndentedBlock):
        return None
    (start, end), (_, head_end) = document.range_of(region), document.range_of(region.items[0])
    line = document.line_after(head_end)
    rest = document.text[head_end:line].partition("#")[0].strip()
    if rest != ":" or document.has_long_text(region.body):
        return None
    draft = Draft()
    draft.replace(document.line_start(start), line, "")
    outer, inner = document.indent(region), document.indent(region.body.body[0])
    while line < len(document.text) and (line < end or document.text.startswith(f"{inner}#", line)):
        if document.text.startswith(inner, line):
            draft.replace(line, line + len(inner), outer)
        line = document.line_after(line)
    return draft


def _remove_beside_others(document: Document, statement: cst.Expr | cst.Assign, draft: Draft) -> None:
    """Take away one of several statements of a line; one that follows a colon alone leaves nothing to do."""
    line = next(document.around(statement))
    small = list(getattr(line, "body", ()))
    place, (start, end) = small.index(statement), document.range_of(statement)
    if len(small) == 1:
        draft.replace(start, end, "pass")
    elif place:
        draft.replace(document.range_of(small[place - 1])[1], end, "")
    else:
        draft.replace(start, document.range_of(small[1])[0], "")


def _is_all_there_is(block: Block, goes: cst.BaseStatement, going: Callable[[cst.CSTNode], bool]) -> bool:
    """Whether a block would be empty without a statement, and without others that may go in the same round."""
    return not isinstance(block, cst.Module) and all(other is goes or going(other) for other in block.body)


def _going_with(imports: Imports, node: cst.CSTNode) -> Callable[[cst.CSTNode], bool]:
    """Tells of a statement whether it may go for the same reason: an import, or a call of the same package."""
    package = _package(imports, node)

    def going(statement: cst.CSTNode) -> bool:
        return isinstance(statement, cst.SimpleStatementLine) and all(
            isinstance(part, (cst.Import, cst.ImportFrom))
            or (isinstance(part, cst.Expr) and _package(imports, part.value) == package)
            for part in statement.body
        )

    return going


def _package(imports: Imports, node: cst.CSTNode) -> str:
    """The package of what a call calls, empty where no import tells."""
    binding = imports.behind(node) if isinstance(node, cst.Call) else None
    return binding.dotted.partition(".")[0] if binding is not None else ""


def _only_tests(document: Document, owner: cst.If) -> bool:
    """Whether an `if` that is no branch of another one does nothing but test what is there already."""
    return owner in document.block(owner).body and not m.findall(owner.test, ACTS)
