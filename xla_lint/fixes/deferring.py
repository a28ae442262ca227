"""A call that is made later: what it needs is handed over as arguments, as it is now."""

from __future__ import annotations

import builtins
import keyword
from typing import TYPE_CHECKING

import libcst as cst
import libcst.matchers as m
from libcst.metadata import Assignment, ImportAssignment

from xla_lint.fixes.drafts import Draft
from xla_lint.fixes.effects import bound_in, effects_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xla_lint.fixes.changes import Defer
    from xla_lint.fixes.document import Document
    from xla_lint.fixes.imports import Imports

UNORDERED = (cst.NamedExpr, cst.Await, cst.Yield, cst.Lambda, cst.BaseComp)
"""Expressions with names or an order of their own."""
READERS = frozenset({"item", "tolist", "cpu", "detach", "size", "numel", "dim"})
"""Methods of a tensor that may wait as well."""
NUMBERS = frozenset({"float", "int", "round", "len", "str"})
"""Functions of Python of which the same holds."""


def defer(document: Document, imports: Imports, change: Defer) -> Draft | None:
    """`print(x)` becomes `register(print, args=(x,))`, and what reckons before it prints a lambda of what it needs."""
    line = document.statement_at(change.at.line)
    if line is None or not m.matches(line, m.SimpleStatementLine(body=[m.Expr(m.Call())])):
        return None
    (call, *_) = m.findall(line, m.Call())
    assert isinstance(call, cst.Call)
    spelled = imports.spell(change.register, call)
    if spelled is None or not _stays(document, call.func) or not _is_made(document, line, change):
        return None
    start, end = document.range_of(call)
    draft = Draft()
    draft.write(start, start, spelled)
    if all(_is_plain(argument) for argument in call.args):
        function_end = document.range_of(call.func)[1]
        draft.replace(start, start, "(")
        draft.replace(function_end, end, f", args={_tuple([document.source(a.value) for a in call.args])})")
        return draft
    needed = _Needed(document, call, draft)
    if not all(map(needed.take, call.args)):
        return None
    draft.replace(start, start, f"(lambda {', '.join(needed.values)}: ")
    draft.replace(end, end, f", args={_tuple(needed.values.values())})")
    return draft


def _is_made(document: Document, line: cst.BaseStatement, change: Defer) -> bool:
    """Whether nothing leaves the step between a call and what makes it later."""
    if change.until is None:
        loops = [part for part in document.around(line) if isinstance(part, cst.For)]
        return bool(loops) and not m.findall(loops[-1], m.Break() | m.Return())
    statements = document.statements_until(change.at, change.until)
    return statements is not None and not effects_of(statements).leaves


def _tuple(values: Iterable[str]) -> str:
    written = list(values)
    return f"({written[0]},)" if len(written) == 1 else f"({', '.join(written)})"


def _is_plain(argument: cst.Arg) -> bool:
    """Whether an argument is a name or a text that stands for itself, and is given by its position."""
    return argument.keyword is None and not argument.star and isinstance(argument.value, (cst.Name, cst.SimpleString))


class _Needed:
    """What a call needs of the program, by the parameters of the function that makes it."""

    def __init__(self, document: Document, call: cst.Call, draft: Draft) -> None:
        self.values: dict[str, str] = {}
        names = (name for name in m.findall(call, m.Name()) if isinstance(name, cst.Name))
        self._spoken = {name.value for name in names if document.scope(name) is not None}
        self._document = document
        self._draft = draft

    def take(self, argument: cst.Arg) -> bool:
        """Let an argument be reckoned later from what its parts are now; False where it cannot be."""
        return not argument.star and self._expression(argument.value)

    def _expression(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.Call):
            if isinstance(node.func, cst.Attribute):
                later = node.func.attr.value in READERS and self._expression(node.func.value)
            else:
                later = isinstance(node.func, cst.Name) and node.func.value in NUMBERS
            return later and all(map(self.take, node.args))
        if isinstance(node, (cst.Name, cst.Attribute, cst.Subscript)):
            return self._reference(node)
        if isinstance(node, UNORDERED) or m.matches(node, m.FormattedStringExpression(equal=m.AssignEqual())):
            return False
        return all(map(self._expression, node.children))

    def _reference(self, node: cst.Name | cst.Attribute | cst.Subscript) -> bool:
        """Hand over what a reference means now, if it may mean something else later."""
        if m.findall(node, m.Call()):
            return False
        root = _root_of(node)
        if root is None:
            return False
        if not _is_variable(self._document, root):
            return not isinstance(node, cst.Subscript)
        source = self._document.source(node)
        if isinstance(node, cst.Name):
            self.values[source] = source
            return True
        same = (name for name, value in self.values.items() if value == source)
        name = next(same, None) or self._free(_called(node))
        self.values[name] = source
        self._draft.replace(*self._document.range_of(node), name)
        return True

    def _free(self, name: str) -> str:
        while name in self.values or name in self._spoken:
            name += "_"
        return name


def _called(node: cst.BaseExpression) -> str:
    """A name for what a reference means: `lr` for `group["lr"]`."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        return node.attr.value
    texts = [text.evaluated_value for text in m.findall(node, m.SimpleString()) if isinstance(text, cst.SimpleString)]
    words = [text for text in texts if isinstance(text, str) and text.isidentifier() and not keyword.iskeyword(text)]
    return words[-1] if words else "value"


def _root_of(node: cst.CSTNode) -> cst.Name | None:
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        node = node.value
    return node if isinstance(node, cst.Name) else None


def _is_variable(document: Document, name: cst.Name) -> bool:
    """Whether a name is one that the program assigns: no import, no function, no builtin."""
    scope = document.scope(name)
    found = [a for a in scope[name.value] if isinstance(a, Assignment)] if scope is not None else []
    if not found:
        return not hasattr(builtins, name.value)
    return not all(
        isinstance(a, ImportAssignment) or isinstance(a.node, (cst.FunctionDef, cst.ClassDef)) for a in found
    )


def _stays(document: Document, function: cst.BaseExpression) -> bool:
    """Whether what is called surely is the same later: the loops around it do not bind the name that it begins with."""
    root = _root_of(function)
    if root is None:
        return False
    if not _is_variable(document, root):
        return True
    around = [part for part in document.around(function) if isinstance(part, (cst.For, cst.While))]
    return not any(root.value in bound_in(loop) for loop in around)
