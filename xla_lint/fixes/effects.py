"""What a statement touches, told from its text: whether it may change places with others."""

from __future__ import annotations

import builtins
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst
import libcst.matchers as m

from xla_lint.fixes.imports import dotted_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

HARMLESS = frozenset(
    "backward scale detach item cpu tolist size dim numel mean sum float clone keys values items".split()
)
"""Methods that change nothing of the object on which they are called: a backward pass leaves the loss as it is."""


TARGET = "target"
"""The attribute of all nodes that bind something, `as` aside."""


@dataclass(slots=True)
class Effects:
    """The variables and attributes, by dotted path, that some code reads and may change."""

    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    leaves: bool = False
    """Whether it may end what is around it: the loop, the function, the turn."""

    def disturb(self, other: Effects) -> bool:
        """Whether the order of both matters."""
        return (
            meet(self.writes, other.reads | other.writes)
            or meet(self.reads, other.writes)
            or self.leaves
            or other.leaves
        )


def effects_of(nodes: Iterable[cst.CSTNode]) -> Effects:
    """What some code touches."""
    visitor = _Visitor()
    for node in nodes:
        node.visit(visitor)
    return visitor.found


def bound_in(node: cst.CSTNode) -> set[str]:
    """The variables that some code binds."""
    targets = m.AssignTarget() | m.AugAssign() | m.AnnAssign() | m.For() | m.NamedExpr()
    names: set[str] = set()
    for part in m.findall(node, targets | m.AsName()):
        target = part.name if isinstance(part, cst.AsName) else getattr(part, TARGET)
        names |= {inner.value for inner in _parts(target) if isinstance(inner, cst.Name)}
    return names


def meet(some: Collection[str], others: Collection[str]) -> bool:
    """Whether a path among some is one of the others, or a part of one, or holds one."""
    return any(one == two or one.startswith(f"{two}.") or two.startswith(f"{one}.") for one in some for two in others)


class _Visitor(cst.CSTVisitor):
    """Collects what is read and written; of calls, what they may change: the object, and what they are given."""

    def __init__(self) -> None:
        super().__init__()
        self.found = Effects()
        self._loops = 0

    def visit_Name(self, node: cst.Name) -> None:  # noqa: N802 - as LibCST calls it
        if not hasattr(builtins, node.value):
            self.found.reads.add(node.value)

    def visit_Attribute(self, node: cst.Attribute) -> bool:  # noqa: N802
        path = dotted_of(node)
        if path is None:
            node.value.visit(self)
        else:
            self.found.reads.add(path)
        return False

    def visit_Call(self, node: cst.Call) -> bool:  # noqa: N802
        harmless = isinstance(node.func, cst.Attribute) and node.func.attr.value in HARMLESS
        if isinstance(node.func, cst.Attribute):
            path = dotted_of(node.func.value)
            node.func.value.visit(self)
            if path is not None and not harmless:
                self.found.writes.add(path)
        else:
            node.func.visit(self)
        known = isinstance(node.func, cst.Name) and hasattr(builtins, node.func.value)
        for argument in node.args:
            argument.value.visit(self)
            path = dotted_of(argument.value)
            if path is not None and not (harmless or known):
                self.found.writes.add(path)
        return False

    def _write(self, target: cst.CSTNode) -> None:
        for part in _parts(target):
            inner: cst.CSTNode = part
            while isinstance(inner, cst.Subscript):
                inner = inner.value
            path = dotted_of(inner)
            if path is not None:
                self.found.writes.add(path)

    def visit_AssignTarget(self, node: cst.AssignTarget) -> None:  # noqa: N802
        self._write(node.target)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:  # noqa: N802
        self._write(node.target)

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:  # noqa: N802
        self._write(node.target)

    def visit_NamedExpr(self, node: cst.NamedExpr) -> None:  # noqa: N802
        self._write(node.target)

    def visit_AsName(self, node: cst.AsName) -> None:  # noqa: N802
        self._write(node.name)

    def visit_Del(self, node: cst.Del) -> None:  # noqa: N802
        self._write(node.target)

    def visit_For(self, node: cst.For) -> None:  # noqa: N802
        self._write(node.target)
        self._loops += 1

    def leave_For(self, original_node: cst.For) -> None:  # noqa: N802
        self._loops -= 1

    def visit_While(self, node: cst.While) -> None:  # noqa: N802
        self._loops += 1

    def leave_While(self, original_node: cst.While) -> None:  # noqa: N802
        self._loops -= 1

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:  # noqa: N802
        self.found.writes.add(node.name.value)
        return False

    def visit_ClassDef(self, node: cst.ClassDef) -> bool:  # noqa: N802
        self.found.writes.add(node.name.value)
        return False

    def visit_Break(self, node: cst.Break) -> None:  # noqa: N802
        self.found.leaves |= not self._loops

    def visit_Continue(self, node: cst.Continue) -> None:  # noqa: N802
        self.found.leaves |= not self._loops

    def visit_Return(self, node: cst.Return) -> None:  # noqa: N802
        self.found.leaves = True

    def visit_Raise(self, node: cst.Raise) -> None:  # noqa: N802
        self.found.leaves = True

    def visit_Yield(self, node: cst.Yield) -> None:  # noqa: N802
        self.found.leaves = True

    def visit_Await(self, node: cst.Await) -> None:  # noqa: N802
        self.found.leaves = True


def _parts(target: cst.CSTNode) -> list[cst.CSTNode]:
    if isinstance(target, (cst.Tuple, cst.List)):
        return [part for element in target.elements for part in _parts(element.value)]
    return [target]
