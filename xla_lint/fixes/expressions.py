"""Changes of single expressions: what is called on an object, and what is assigned through a mask."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst
import libcst.matchers as m

from xla_lint.fixes.drafts import Draft

if TYPE_CHECKING:
    from xla_lint.fixes.changes import Append, Fill, PassTo
    from xla_lint.fixes.document import Document
    from xla_lint.fixes.imports import Imports

PRIMARY = (cst.Name, cst.Attribute, cst.Subscript, cst.Call)
"""Expressions on which something can be called without brackets."""
NUMBER = m.Integer() | m.Float() | m.Name(value=m.MatchIfTrue(lambda name: name in ("True", "False")))
LITERAL = NUMBER | m.UnaryOperation(m.Minus(), NUMBER)
TENSOR_FREE = (
    LITERAL
    | m.Call(func=m.Name("float"))
    | m.UnaryOperation(m.Minus(), m.Call(func=m.Name("float")))
    | m.UnaryOperation(m.Minus(), m.Attribute(attr=m.Name("inf")))
    | m.Attribute(value=m.Name("math"))
    | m.Attribute(value=m.Call(func=m.Attribute(attr=m.Name("finfo"))))
)
"""Values that are surely numbers."""


def append(document: Document, imports: Imports, change: Append) -> Draft | None:  # noqa: ARG001 - as drafters are called
    """Write something behind an expression."""
    node = document.find(change.at, cst.BaseExpression)  # type: ignore[type-abstract]
    if node is None:
        return None
    start, end = document.range_of(node)
    draft = Draft()
    if isinstance(node, PRIMARY):
        draft.replace(end, end, change.text)
    elif node.lpar:
        end += len(document.module.code_for_node(node).split(document.source(node), 1)[1])
        draft.replace(end, end, change.text)
    else:
        draft.replace(start, start, "(")
        draft.replace(end, end, f"){change.text}")
    return draft


def pass_to(document: Document, imports: Imports, change: PassTo) -> Draft | None:  # noqa: ARG001
    """Let a function take the object on which a method is called now."""
    call = document.find(change.at, cst.Call)
    if call is None or not isinstance(call.func, cst.Attribute):
        return None
    owner = call.func.value
    given = document.source(owner)
    if isinstance(owner, (cst.Tuple, cst.GeneratorExp, cst.NamedExpr)):
        given = f"({given})"
    draft = Draft()
    opening = document.text.index("(", document.range_of(call.func)[1])
    draft.replace(document.range_of(call)[0], opening + 1, f"{change.function}({given}" + (", " if call.args else ""))
    return draft


def fill(document: Document, imports: Imports, change: Fill) -> Draft | None:
    """`t[mask] = v` becomes `t.masked_fill_(mask, v)`, and `t[mask] = s[mask]` a choice that is copied to `t`."""
    statement = document.find(change.at, cst.Assign)
    if statement is None or len(statement.targets) != 1:
        return None
    target = statement.targets[0].target
    if (
        not isinstance(target, cst.Subscript)
        or len(target.slice) != 1
        or not isinstance(target.slice[0].slice, cst.Index)
    ):
        return None
    tensor, mask = target.value, target.slice[0].slice.value
    if isinstance(mask, cst.Tuple):
        return None
    filled, masked = document.source(tensor), document.source(mask)
    draft = Draft()
    if m.matches(statement.value, TENSOR_FREE):
        value = document.source(statement.value)
        draft.replace(*document.range_of(statement), f"{filled}.masked_fill_({masked}, {value})")
        return draft
    source = statement.value
    if m.findall(tensor, m.Call()):
        return None
    if (
        not isinstance(source, cst.Subscript)
        or document.source(source)[len(document.source(source.value)) :] != (document.source(target)[len(filled) :])
    ):
        return None
    spelled = imports.spell(change.where, tensor)
    if spelled is None:
        return None
    draft.wanted += [spelled.wanted] if spelled.wanted is not None else []
    chosen = f"{spelled.text}({masked}, {document.source(source.value)}, {filled})"
    draft.replace(*document.range_of(statement), f"{filled}.copy_({chosen})")
    return draft
