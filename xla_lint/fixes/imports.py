"""How a text spells what it imports: the imports that it has, and the one that it lacks for a name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import libcst as cst
import libcst.matchers as m
from libcst.metadata import Assignment, ImportAssignment

from xla_lint.fixes.drafts import Spelled, Wanted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from libcst.metadata import BaseAssignment

    from xla_lint.fixes.changes import Name
    from xla_lint.fixes.document import Document

Statement = cst.Import | cst.ImportFrom


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """One name that an import statement brings."""

    statement: Statement
    alias: cst.ImportAlias
    dotted: str
    """What is imported."""
    spelled: str
    """How the text spells that: `xm`, or `torch_xla.core.xla_model` where the import says no more."""

    @property
    def name(self) -> str:
        """The name that is bound."""
        return self.spelled.partition(".")[0]

    @property
    def bound_to(self) -> str:
        """What that name stands for."""
        return self.name if "." in self.spelled else self.dotted


class Imports:
    """The imports of a text."""

    def __init__(self, document: Document, taken: frozenset[str]) -> None:
        """Take a text, and the names that other modules have `taken` from its module."""
        self._document = document
        self._taken = taken

    @cached_property
    def bindings(self) -> list[Binding]:
        """What all imports bind, wherever they stand; relative ones left out."""
        found: list[Binding] = []
        for node in m.findall(self._document.module, m.Import() | m.ImportFrom()):
            if isinstance(node, cst.Import):
                found += _bindings(node, "")
            elif isinstance(node, cst.ImportFrom) and node.module is not None and not node.relative:
                found += _bindings(node, f"{dotted_of(node.module)}.")
        return found

    def is_shared(self, binding: Binding) -> bool:
        """Whether others may use a name, so that it stays, used here or not."""
        return binding.name in self._taken or binding.name in self._exported

    @cached_property
    def _exported(self) -> frozenset[str]:
        """The texts in what the module assigns to `__all__`."""
        name = m.Name("__all__")
        assigned = m.Assign(targets=[m.AssignTarget(name)]) | m.AnnAssign(name) | m.AugAssign(name)
        texts = (text for it in m.findall(self._document.module, assigned) for text in m.findall(it, m.SimpleString()))
        return frozenset(str(text.evaluated_value) for text in texts if isinstance(text, cst.SimpleString))

    def of(self, statement: Statement) -> list[Binding]:
        """What a statement binds."""
        return [binding for binding in self.bindings if binding.statement is statement]

    def spell(self, name: Name, at: cst.CSTNode) -> Spelled | None:
        """How a name is written at a node, with the import that it takes; None where it cannot be written there."""
        old = self.behind(at)
        for binding in self.bindings:
            text = _spelling(name, binding)
            if text is not None and self._is_visible(binding, at, old):
                return Spelled(text)
        anchor = self._anchor(name, old)
        if anchor is None:
            return None
        if name.alias is not None and not self._is_taken(name.alias, name.module, at, anchor):
            spelled = f"{name.alias}.{name.attribute}" if name.attribute else name.alias
            return Spelled(spelled, Wanted(f"import {name.module} as {name.alias}", anchor))
        package = name.module.partition(".")[0]
        if self._is_taken(package, package, at, anchor):
            return None
        return Spelled(name.dotted, Wanted(f"import {name.module}", anchor))

    def behind(self, at: cst.CSTNode) -> Binding | None:
        """The import that binds the first name of an expression."""
        root = root_of(at)
        scope = self._document.scope(root) if root is not None else None
        if root is None or scope is None:
            return None
        nodes = [assignment.node for assignment in scope[root.value] if isinstance(assignment, Assignment)]
        return next((b for b in self.bindings if b.statement in nodes and b.name == root.value), None)

    def line(self, statement: Statement) -> cst.SimpleStatementLine | None:
        """The line that a statement has to itself."""
        line = self._document.statement(statement)
        return line if isinstance(line, cst.SimpleStatementLine) else None

    def _is_visible(self, binding: Binding, at: cst.CSTNode, old: Binding | None) -> bool:
        """Whether a name is surely what an import binds to it at a node.

        It is where the import stands in a block around the node, or in the one of the import that the node needs now.
        """
        scope = self._document.scope(at)
        found = scope[binding.name] if scope is not None else set()
        if not any(isinstance(other, ImportAssignment) and other.node is binding.statement for other in found):
            return False
        if any(self._bound_to(other) != binding.bound_to for other in found):
            return False
        block = self._document.block(binding.statement)
        if old is not None and block is self._document.block(old.statement):
            return True
        return block is self._document.module or block in self._document.around(at)

    def _bound_to(self, assignment: BaseAssignment) -> str | None:
        """What the first name of an assignment stands for, None where no import says so."""
        if not isinstance(assignment, ImportAssignment):
            return None
        name = assignment.name.partition(".")[0]
        return next((b.bound_to for b in self.bindings if b.statement is assignment.node and b.name == name), None)

    def _anchor(self, name: Name, old: Binding | None) -> Statement | None:
        """The import beside which another one is to stand: whoever uses the name has come by it."""
        package = name.module.partition(".")[0]
        kin = [b for b in self.bindings if b.dotted.partition(".")[0] == package and self._is_global(b)]
        outside = [b for b in kin if self._document.block(b.statement) is self._document.module]
        mine = [old] if old is not None else []
        if old is not None and old.dotted.partition(".")[0] != package:
            mine, kin = [], [*kin, old]
        found = (b.statement for b in (*mine, *outside, *kin) if self.line(b.statement) is not None)
        return next(found, None)

    def _is_global(self, binding: Binding) -> bool:
        scope = self._document.scope(binding.statement)
        return scope is not None and scope is scope.globals

    def _is_taken(self, name: str, meaning: str, at: cst.CSTNode, anchor: Statement) -> bool:
        """Whether a name stands for something else than is meant, at a node or where the import is to stand."""
        scopes = filter(None, map(self._document.scope, (at, anchor)))
        return any(self._bound_to(found) != meaning for scope in scopes for found in scope[name])


def _bindings(statement: Statement, module: str) -> Iterator[Binding]:
    if isinstance(statement.names, cst.ImportStar):
        return
    for alias in statement.names:
        dotted = f"{module}{dotted_of(alias.name)}"
        name = alias.asname.name if alias.asname is not None else alias.name
        yield Binding(statement, alias, dotted, dotted_of(name) or "")


def _spelling(name: Name, binding: Binding) -> str | None:
    """How a binding spells a name, None where it does not lead there."""
    if binding.dotted == name.dotted:
        return binding.spelled
    if binding.dotted == name.module:
        return f"{binding.spelled}.{name.attribute}"
    if binding.spelled == binding.dotted and binding.dotted.startswith(f"{name.module}."):
        return name.dotted
    return None


def root_of(node: cst.CSTNode) -> cst.Name | None:
    """The name with which a chain of attributes begins."""
    while isinstance(node, (cst.Attribute, cst.Call)):
        node = node.value if isinstance(node, cst.Attribute) else node.func
    return node if isinstance(node, cst.Name) else None


def dotted_of(node: cst.CSTNode) -> str | None:
    """A name, or a chain of attributes of one, with its dots; None for any other expression."""
    if isinstance(node, cst.Name):
        return node.value
    owner = dotted_of(node.value) if isinstance(node, cst.Attribute) else None
    return f"{owner}.{node.attr.value}" if owner is not None and isinstance(node, cst.Attribute) else None
