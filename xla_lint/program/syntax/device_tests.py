"""Tests that ask for the name of a lazy device: `"xla" in str(device)`, `device.type == "xla"`."""

from __future__ import annotations

from astroid import nodes

from xla_lint.program.backend import ASSUMED

OPPOSITES = frozenset({"!=", "not in"})


def asks_for_device(test: nodes.NodeNG) -> bool | None:
    """Whether a test holds on the lazy device, by the name that it asks a device for; None for other tests."""
    if isinstance(test, nodes.UnaryOp) and test.op == "not":
        answer = asks_for_device(test.operand)
        return None if answer is None else not answer
    if isinstance(test, nodes.Compare) and len(test.ops) == 1:
        op, right = test.ops[0]
        asked, name = (test.left, right) if op in ("==", "!=") else (right, test.left)
        if op in ("==", "!=", "in", "not in") and is_name(name) and tells_device(asked):
            return op not in OPPOSITES
    if isinstance(test, nodes.Call) and isinstance(test.func, nodes.Attribute) and test.func.attrname == "startswith":
        return True if test.args and is_name(test.args[0]) and tells_device(test.func.expr) else None
    return None


def holds_on_device_alone(value: nodes.NodeNG) -> bool:
    """Whether an expression is true on the lazy device alone: such a test, and what must hold besides."""
    if isinstance(value, nodes.BoolOp) and value.op == "and":
        return any(map(holds_on_device_alone, value.values))
    if isinstance(value, nodes.Call) and isinstance(value.func, nodes.Name) and value.func.name == "bool":
        return len(value.args) == 1 and holds_on_device_alone(value.args[0])
    return asks_for_device(value) is True


def is_name(node: nodes.NodeNG) -> bool:
    """Whether an expression is the name of the lazy device, or how such names begin."""
    return (
        isinstance(node, nodes.Const) and isinstance(node.value, str) and node.value.rstrip(":") == ASSUMED.device_type
    )


def tells_device(node: nodes.NodeNG) -> bool:
    """Whether an expression is a device's type, or its text: `device.type`, `str(device)`, `str(device).lower()`."""
    if isinstance(node, nodes.Call) and isinstance(node.func, nodes.Attribute) and node.func.attrname == "lower":
        return tells_device(node.func.expr)
    if isinstance(node, nodes.Call):
        return isinstance(node.func, nodes.Name) and node.func.name == "str" and len(node.args) == 1
    return isinstance(node, nodes.Attribute) and node.attrname == "type"
