"""Changes of place: a statement moves behind a barrier, or in front of what comes too early."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

import libcst as cst
import libcst.matchers as m

from xla_lint.fixes.drafts import Draft
from xla_lint.fixes.effects import bound_in, effects_of, meet
from xla_lint.fixes.imports import dotted_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xla_lint.fixes.changes import MoveAhead, MoveBehind
    from xla_lint.fixes.document import Document
    from xla_lint.fixes.imports import Imports

Line = cst.SimpleStatementLine
READERS = frozenset({"item", "tolist", "cpu", "detach", "float", "double"})
"""Methods of a tensor that read it, or stand before one that does."""
NUMBERS = frozenset("float int round len str abs min max sum print format bool isinstance".split())
"""Functions of Python that work on numbers and texts."""
ARITHMETIC = frozenset({"abs", "max", "min", "pow", "sum"})
"""Those that compute a tensor from tensors."""
NOTES = frozenset("append add update extend log info debug warning error write add_scalar set_postfix".split())
"""Methods of lists, meters, writers and progress bars that note down what they are given."""
SAME_TENSOR = frozenset(
    "detach data view reshape flatten t transpose permute squeeze unsqueeze expand contiguous to float double".split()
)
"""Methods that may give a part or a view of what they are called on."""


def move_behind(document: Document, imports: Imports, change: MoveBehind) -> Draft | None:
    """Move a statement that reads values behind the barrier that computes them, if what stands between allows it."""
    statements = document.statements_until(change.at, change.behind)
    if statements is None or not isinstance(statements[-1], Line):
        return None
    read, *between, barrier = statements
    if not all(_is_fresh(document, read, name, frozenset()) for name in change.subjects):
        return None
    moved: list[cst.CSTNode] = [read]
    stay: list[cst.CSTNode] = []
    for statement in between:
        mine = effects_of(moved)
        theirs = effects_of([statement])
        if mine.disturb(theirs):
            if not isinstance(statement, Line) or meet(theirs.writes, change.subjects):
                return None
            moved.append(statement)
        else:
            stay.append(statement)
    mine, theirs = effects_of(moved), effects_of([*stay, barrier])
    if mine.disturb(theirs) or not all(_only_notes(imports, statement) for statement in moved):
        return None
    return _moved(document, moved, document.line_after(document.range_of(barrier)[1]), barrier)


def move_ahead(document: Document, imports: Imports, change: MoveAhead) -> Draft | None:  # noqa: ARG001
    """Move the statement that begins on a line in front of another one, with what it needs of those between."""
    early = document.statement_at(change.ahead_of.line)
    late = document.statement_at(change.line)
    if early is None or late is None or not isinstance(late, Line) or not isinstance(early, Line):
        return None
    body = list(document.block(early).body)
    if document.block(late) is not document.block(early) or body.index(late) <= body.index(early):
        return None
    moved: list[cst.CSTNode] = [late]
    needed, bound, used = effects_of([late]).reads, bound_in(late), effects_of([early]).reads
    for statement in reversed(body[body.index(early) + 1 : body.index(late)]):
        if effects_of([statement]).leaves or bound_in(statement) & (bound | used):
            return None
        if not meet(bound_in(statement), needed):
            continue
        if not m.matches(statement, m.SimpleStatementLine(body=[m.Assign()])):
            return None
        moved.insert(0, statement)
        needed |= effects_of([statement]).reads
    if meet(bound_in(early), needed) or bound_in(early) & bound:
        return None
    return _moved(document, moved, _first_line(document, early), early)


def _moved(document: Document, statements: Sequence[cst.CSTNode], to: int, beside: cst.CSTNode) -> Draft | None:
    """Take whole lines, with the comments above them, to another place of the same block."""
    draft = Draft()
    texts: list[str] = []
    for statement in statements:
        end = document.range_of(statement)[1]
        first = _first_line(document, statement)
        last = document.line_after(end)
        if document.indent(statement) != document.indent(beside):
            return None
        text = document.text[first:last]
        if not text.endswith(("\n", "\r")):
            text += document.newline
        texts.append(text)
        draft.replace(first, last, "")
    block = "".join(texts)
    if to == len(document.text) and not document.text.endswith(("\n", "\r")):
        block = document.newline + block.rstrip("\r\n")
    draft.replace(to, to, block)
    return draft


def _first_line(document: Document, statement: cst.CSTNode) -> int:
    """Where the lines of a statement begin, with the comments right above it."""
    first = document.line_start(document.range_of(statement)[0])
    for line in reversed(getattr(statement, "leading_lines", ())):
        if line.comment is None:
            break
        first = document.line_start(first - 1)
    return first


def _only_notes(imports: Imports, statement: cst.CSTNode) -> bool:
    """Whether all that a statement does is to read values, to reckon with numbers, and to note them down."""
    if isinstance(statement, cst.If):
        bodies = [statement.body, *([statement.orelse] if statement.orelse is not None else [])]
        inner = [part for body in bodies for part in getattr(body, "body", ())]
        tested = all(_is_note(imports, call) for call in m.findall(statement.test, m.Call()))
        return tested and bool(inner) and all(_only_notes(imports, part) for part in inner)
    small = m.SimpleStatementLine(body=[m.Assign() | m.AugAssign() | m.Expr()])
    return m.matches(statement, small) and all(_is_note(imports, call) for call in m.findall(statement, m.Call()))


def _is_note(imports: Imports, call: cst.CSTNode) -> bool:
    if not isinstance(call, cst.Call):
        return False
    if isinstance(call.func, cst.Name):
        return call.func.value in NUMBERS
    if not isinstance(call.func, cst.Attribute):
        return False
    if call.func.attr.value in READERS | NOTES:
        return True
    root = imports.behind(call.func)
    return root is not None and root.dotted.partition(".")[0] == "math"


def _is_fresh(document: Document, read: cst.CSTNode, name: str, seen: frozenset[str]) -> bool:
    """Whether the same block computes what a name stands for, so that it is no parameter, nor a view of one."""
    block = document.block(read)
    values = []
    for assignment in m.findall(block, m.Assign()):
        if isinstance(assignment, cst.Assign) and document.range_of(assignment)[0] < document.range_of(read)[0]:
            names = {dotted_of(t) for target in assignment.targets for t in _targets(target.target)}
            values += [assignment.value] if name in names else []
    return bool(values) and all(_computes(document, read, value, seen | {name}) for value in values)


def _computes(document: Document, read: cst.CSTNode, value: cst.BaseExpression, seen: frozenset[str]) -> bool:
    if isinstance(value, (cst.BinaryOperation, cst.UnaryOperation)):
        return True
    if isinstance(value, cst.Call) and isinstance(value.func, cst.Name):
        return value.func.value in ARITHMETIC or not hasattr(builtins, value.func.value)
    if isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute):
        return value.func.attr.value not in SAME_TENSOR or _computes(document, read, value.func.value, seen)
    if isinstance(value, (cst.Attribute, cst.Subscript)):
        return _computes(document, read, value.value, seen)
    if isinstance(value, cst.Name) and value.value not in seen:
        return _is_fresh(document, read, value.value, seen)
    return False


def _targets(target: cst.CSTNode) -> list[cst.CSTNode]:
    if isinstance(target, (cst.Tuple, cst.List)):
        return [part for element in target.elements for part in _targets(element.value)]
    return [target]
