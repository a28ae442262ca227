"""What the body of a loop assigns and counts, told without running it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from astroid import nodes

from xla_lint.program.syntax.index import advances, last_name

if TYPE_CHECKING:
    from collections.abc import Iterator

COMPOUND = (
    nodes.If, nodes.For, nodes.While, nodes.With, nodes.Try, nodes.TryStar, nodes.ExceptHandler, nodes.Match,
    nodes.MatchCase, nodes.FunctionDef, nodes.ClassDef,
)  # fmt: skip
"""What holds statements."""


LOOKING = frozenset({"hasattr", "getattr", "import_module", "__import__"})
"""Functions that find something by a text."""


class Counts(NamedTuple):
    """What a loop's body assigns, and what it counts."""

    names: list[tuple[str, bool]]
    """The names that it assigns; True for those that count (`n += 1`, `n = n + 1`)."""
    slots: list[tuple[nodes.NodeNG, str]]
    """What it counts up in objects and dicts: the expression of the holder, and the attribute or key."""


@lru_cache(maxsize=256)
def counts_of(loop: nodes.For | nodes.While) -> Counts:
    """What a loop's body assigns and counts; the answers for the last loops are kept."""
    return Counts(assigned_numbers(loop), counted_slots(loop))


def attributes_set(node: nodes.For) -> nodes.NodeNG | None:
    """The dict whose items a loop sets as attributes, doing nothing else: `given` of `given.items()`."""
    only = node.body[0].value if len(node.body) == 1 and isinstance(node.body[0], nodes.Expr) else None
    sets = isinstance(only, nodes.Call) and last_name(only.func) == "setattr"
    if sets and isinstance(node.iter, nodes.Call) and isinstance(node.iter.func, nodes.Attribute):
        return node.iter.func.expr if node.iter.func.attrname == "items" else None
    return None


def asks_by_name(node: nodes.For) -> bool:
    """Whether a loop looks up names that it is given: modules, or attributes of objects."""
    return any(last_name(call.func) in LOOKING for part in node.body for call in part.nodes_of_class(nodes.Call))


def assigned_numbers(node: nodes.For | nodes.While) -> list[tuple[str, bool]]:
    """The names that a loop's body assigns; True for those that count (`n += 1`, `n = n + 1`)."""
    found: dict[str, bool] = {}
    for item in assignments_in(node.body, (nodes.FunctionDef, nodes.ClassDef)):
        for target in [item.target] if isinstance(item, nodes.AugAssign) else item.targets:
            if isinstance(target, nodes.AssignName):
                counts = isinstance(item, nodes.AugAssign) or advances(item.value, target)
                found[target.name] = found.get(target.name, False) or counts
    return list(found.items())


def counted_slots(node: nodes.For | nodes.While) -> list[tuple[nodes.NodeNG, str]]:
    """What a loop's body counts up in objects and dicts: the expression of the holder, and the attribute or key."""
    found = []
    for item in assignments_in([*node.body, *node.orelse]):
        target = item.target if isinstance(item, nodes.AugAssign) else item.targets[0]
        if not isinstance(target, (nodes.AssignAttr, nodes.Subscript)):
            continue
        if not isinstance(item, nodes.AugAssign) and not advances(item.value, target):
            continue
        if isinstance(target, nodes.AssignAttr) and is_path(target.expr):
            found.append((target.expr, str(target.attrname)))
        elif isinstance(target, nodes.Subscript) and is_path(target.value) and isinstance(target.slice, nodes.Const):
            found.append((target.value, target.slice.value))
    return found


BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")
"""Where statements hold statements, in the order of the source."""


def assignments_in(
    body: list[nodes.NodeNG], besides: tuple[type[nodes.NodeNG], ...] = ()
) -> Iterator[nodes.Assign | nodes.AugAssign]:
    """The assignments among statements and in them, in the order of the source; those in some kinds left out."""
    for statement in body:
        if isinstance(statement, (nodes.Assign, nodes.AugAssign)):
            yield statement
        elif isinstance(statement, COMPOUND) and not isinstance(statement, besides):
            for block in BLOCKS:
                yield from assignments_in(getattr(statement, block, []), besides)


def is_path(node: nodes.NodeNG) -> bool:
    """Whether an expression is a name, or a chain of attributes of one."""
    while isinstance(node, nodes.Attribute):
        node = node.expr
    return isinstance(node, nodes.Name)
