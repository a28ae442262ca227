"""Expressions that others take the place of: put together from texts, imported names and parts of the source."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from xla_lint.fixes.changes import Name, Span
from xla_lint.fixes.drafts import Draft, Spelled
from xla_lint.fixes.expressions import PRIMARY

if TYPE_CHECKING:
    from xla_lint.fixes.changes import Guard, Parts, Write
    from xla_lint.fixes.document import Document
    from xla_lint.fixes.imports import Imports

TIGHT = (cst.Attribute, cst.Subscript, cst.BinaryOperation, cst.UnaryOperation, cst.Comparison, cst.ComparisonTarget)
"""What holds its parts together more closely than a comparison does."""


def write(document: Document, imports: Imports, change: Write) -> Draft | None:
    """Put another expression in the place of one."""
    node = document.find(change.at, cst.BaseExpression)  # type: ignore[type-abstract]
    if node is None:
        return None
    draft = Draft()
    text = _written(document, imports, change.parts, node, draft)
    if text is None:
        return None
    if not isinstance(cst.parse_expression(text), PRIMARY) and _is_held(document, node):
        text = f"({text})"
    if isinstance(node, cst.SimpleString) and text == f'"{text[1:-1]}"':
        text = node.quote + text[1:-1] + node.quote
    quoted = _quoted(document, node, text)
    if quoted is None:
        return None
    draft.replace(*document.range_of(node), quoted)
    return draft


def guard(document: Document, imports: Imports, change: Guard) -> Draft | None:
    """Let a call be made under a condition, on a line of its own below it."""
    call = document.find(change.at, cst.Call)
    if call is None:
        return None
    line = document.statement(call)
    if not isinstance(line, cst.SimpleStatementLine):
        return None
    draft = Draft()
    condition = _written(document, imports, change.condition, call, draft)
    function = _written(document, imports, change.function, call, draft)
    if condition is None or function is None:
        return None
    start, end = document.range_of(line)
    deeper = document.module.default_indent
    body = document.newline + document.indent(line) + deeper + function
    draft.replace(start, document.range_of(call.func)[1], f"if {condition}:{body}")
    following = document.line_after(start)
    while following < end and not document.has_long_text(line):
        draft.replace(following, following, deeper)
        following = document.line_after(following)
    return draft


def _written(document: Document, imports: Imports, parts: Parts, at: cst.BaseExpression, draft: Draft) -> str | None:
    """An expression as it is written at a node; None where it cannot be."""
    texts: list[str] = []
    for part, after in zip(parts, (*parts[1:], ""), strict=True):
        if isinstance(part, str):
            spelled: Spelled | None = Spelled(part)
        elif isinstance(part, Name):
            spelled = imports.spell(part, at)
        else:
            spelled = _copied(document, part, is_owner=isinstance(after, str) and after.startswith("."))
        if spelled is None:
            return None
        texts.append(spelled.text)
        draft.wanted += [spelled.wanted] if spelled.wanted is not None else []
    return "".join(texts)


def _copied(document: Document, span: Span, *, is_owner: bool) -> Spelled | None:
    """A part of the source, in brackets where something is asked of it that would else be asked of its end."""
    node = document.find(span, cst.BaseExpression)  # type: ignore[type-abstract]
    if node is None:
        return None
    source = document.source(node)
    needs_brackets = (is_owner and not isinstance(node, PRIMARY)) or isinstance(node, (cst.GeneratorExp, cst.NamedExpr))
    return Spelled(f"({source})" if needs_brackets else source)


def _quoted(document: Document, node: cst.CSTNode, text: str) -> str | None:
    """A text with quotes that do not end an f-string around it, as they would before Python 3.12."""
    around = [part.end[0] for part in document.around(node) if isinstance(part, cst.FormattedString)]
    if not any(quote in text for quote in around):
        return text
    free = next((quote for quote in "'\"" if quote not in around and quote not in text), None)
    return text.replace(around[0], free) if free is not None and len(set(around)) == 1 else None


def _is_held(document: Document, node: cst.BaseExpression) -> bool:
    """Whether an expression without brackets is a part of one that would hold only a part of what is written there."""
    if node.lpar:
        return False
    parent = next(document.around(node))
    if isinstance(parent, cst.UnaryOperation):
        return not isinstance(parent.operator, cst.Not)
    return isinstance(parent, TIGHT) or (isinstance(parent, cst.Call) and parent.func is node)
