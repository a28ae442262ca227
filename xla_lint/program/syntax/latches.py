"""Tests that let something happen once: what stands under them sets what they ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

SETTING = (nodes.AssignName, nodes.AssignAttr)
NAMED = (nodes.Name, nodes.Attribute)


def shuts(node: nodes.If) -> bool:
    """Whether a branch sets what its test asks, so that it is not taken again: `if first: ...; first = False`.

    Nothing else in the loop around may set it; where there is none, nothing but `__init__` in the class, or the top
    level of the module.
    """
    asked, opening = _asked(node.test)
    if asked is None:
        return False
    answers = [value for target, value in _settings(node.body) if target.as_string() == asked.as_string()]
    if not answers or not _closes(answers[-1], opening):
        return False
    inside = set(node.nodes_of_class(SETTING))
    around = _around(node, asked)
    return around is not None and not any(
        target.as_string() == asked.as_string() and target not in inside and not _is_beginning(target, around)
        for target in around.nodes_of_class(SETTING)
    )


def _asked(test: nodes.NodeNG) -> tuple[nodes.Name | nodes.Attribute | None, bool | None]:
    """What a test asks, and the answer that opens its branch; None where it asks for None."""
    if isinstance(test, NAMED):
        return test, True
    if isinstance(test, nodes.UnaryOp) and test.op == "not" and isinstance(test.operand, NAMED):
        return test.operand, False
    if isinstance(test, nodes.Compare) and isinstance(test.left, NAMED):
        operator, right = test.ops[0]
        if operator in ("is", "==") and isinstance(right, nodes.Const) and right.value in (None, True, False):
            return test.left, right.value
    return None, None


def _settings(body: list[nodes.NodeNG]) -> Iterator[tuple[nodes.NodeNG, nodes.NodeNG]]:
    """What the statements of a branch themselves set, each with the value."""
    for statement in body:
        if isinstance(statement, nodes.Assign):
            yield from ((target, statement.value) for target in statement.targets)


def _closes(value: nodes.NodeNG, opening: bool | None) -> bool:
    """Whether a value answers a test otherwise than what opens its branch."""
    if not isinstance(value, nodes.Const):
        return opening is not True
    return value.value is not None if opening is None else bool(value.value) is not opening


def _around(node: nodes.If, asked: nodes.Name | nodes.Attribute) -> nodes.NodeNG | None:
    """The loop in which a test is asked again and again; in a function without one, its class or its module."""
    for outer in node.node_ancestors():
        if isinstance(outer, (nodes.For, nodes.While)):
            return outer
        if isinstance(outer, (nodes.FunctionDef, nodes.Lambda)):
            break
    else:
        return None
    if isinstance(asked, nodes.Attribute):
        return outer.parent if isinstance(outer.parent, nodes.ClassDef) else None
    declared = any(asked.name in statement.names for statement in outer.nodes_of_class(nodes.Global))
    return outer.root() if declared else None


def _is_beginning(target: nodes.NodeNG, around: nodes.NodeNG) -> bool:
    """Whether something is set before anything is asked: by a constructor, or at the top level of a module."""
    scope = target.scope()
    if isinstance(around, nodes.ClassDef):
        return isinstance(scope, nodes.FunctionDef) and scope.name == "__init__"
    return isinstance(around, nodes.Module) and scope is around
