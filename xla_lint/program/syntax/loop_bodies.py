"""What the body of a loop assigns and counts, told without running it."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from astroid import nodes

from xla_lint.program.syntax.index import advances, last_name


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


def assigned_numbers(node: nodes.For | nodes.While) -> list[tuple[str, bool]]:
    """The names that a loop's body assigns; True for those that count (`n += 1`, `n = n + 1`)."""
    found: dict[str, bool] = {}
    pending: list[nodes.NodeNG] = list(node.body)
    while pending:
        item = pending.pop()
        if isinstance(item, nodes.AugAssign) and isinstance(item.target, nodes.AssignName):
            found[item.target.name] = True
        elif isinstance(item, nodes.Assign):
            for target in item.targets:
                if isinstance(target, nodes.AssignName):
                    counts = advances(item.value, target.name)
                    found[target.name] = found.get(target.name, False) or counts
        if not isinstance(item, (nodes.FunctionDef, nodes.ClassDef, nodes.Lambda)):
            pending.extend(item.get_children())
    return list(found.items())


def counted_slots(node: nodes.For | nodes.While) -> list[tuple[nodes.NodeNG, str]]:
    """What a loop's body counts up in objects and dicts: the expression of the holder, and the attribute or key."""
    found = []
    for item in node.nodes_of_class((nodes.AugAssign, nodes.Assign)):
        target = item.target if isinstance(item, nodes.AugAssign) else item.targets[0]
        if not isinstance(item, nodes.AugAssign) and not advances(item.value, target.as_string()):
            continue
        if isinstance(target, nodes.AssignAttr) and is_path(target.expr):
            found.append((target.expr, str(target.attrname)))
        elif isinstance(target, nodes.Subscript) and is_path(target.value) and isinstance(target.slice, nodes.Const):
            found.append((target.value, target.slice.value))
    return found


def is_path(node: nodes.NodeNG) -> bool:
    """Whether an expression is a name, or a chain of attributes of one."""
    while isinstance(node, nodes.Attribute):
        node = node.expr
    return isinstance(node, nodes.Name)
