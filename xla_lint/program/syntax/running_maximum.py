"""A name that keeps the greatest of what a loop comes across."""

from __future__ import annotations

from typing import NamedTuple

from astroid import nodes


class Running(NamedTuple):
    """The name that is set, and what it is set to where that is greater."""

    target: nodes.AssignName
    candidate: nodes.NodeNG


def running_maximum(node: nodes.If) -> Running | None:
    """What `if x > best: best = x` keeps; None for other tests."""
    if len(node.body) != 1 or node.orelse or not isinstance(node.body[0], nodes.Assign) or not stands_in_loop(node):
        return None
    assign = node.body[0]
    target = assign.targets[0]
    if len(assign.targets) != 1 or not isinstance(target, nodes.AssignName) or not isinstance(node.test, nodes.Compare):
        return None
    left, [(operator, right), *others] = node.test.left, node.test.ops
    greater, less = (left, right) if operator in (">", ">=") else (right, left)
    if others or operator not in (">", ">=", "<", "<=") or less.as_string() != target.name:
        return None
    return Running(target, greater) if greater.as_string() == assign.value.as_string() else None


def kept_by(call: nodes.NodeNG) -> int | None:
    """Which argument of a call of `max` a loop keeps where it is greater: the second of `best = max(best, x)`."""
    assign = call.parent
    if not isinstance(call, nodes.Call) or not isinstance(assign, nodes.Assign) or len(call.args) != 2:
        return None
    names = {target.name for target in assign.targets if isinstance(target, nodes.AssignName)}
    own = [isinstance(argument, nodes.Name) and argument.name in names for argument in call.args]
    return own.index(False) if any(own) and not all(own) and stands_in_loop(call) else None


def stands_in_loop(node: nodes.NodeNG) -> bool:
    """Whether a loop of its own function is around a node."""
    around = node.parent
    while around is not None and not isinstance(around, (nodes.FunctionDef, nodes.Module, nodes.For)):
        around = around.parent
    return isinstance(around, nodes.For)
