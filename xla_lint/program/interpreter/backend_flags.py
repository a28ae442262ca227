"""What a program is told that asks whether it runs on a lazy device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.backend import ASSUMED
from xla_lint.program.domain.values import OF_KIND, Number
from xla_lint.program.syntax.device_tests import asks_for_device
from xla_lint.program.syntax.index import is_choice, is_flag, last_name

if TYPE_CHECKING:
    from xla_lint.program.domain.values import Value
    from xla_lint.program.machine.machine import Machine


NAMED = (nodes.Name, nodes.Attribute)


def answer_of_flag(machine: Machine, node: nodes.NodeNG) -> bool | None:
    """What a flag for running on XLA, as its definition or the tests of it show, answers; None for another test."""
    on_xla = machine.backend is ASSUMED
    if (asked := asks_for_device(node)) is not None:
        return asked is on_xla
    index = machine.at.frame.index
    if index is None:
        return None
    if on_xla and (told := answer_of_kind(node, index.kinds)) is not None:
        return told
    if not index.flags:
        return None
    if isinstance(node, (nodes.Name, nodes.Attribute, nodes.Call)):
        return on_xla if is_flag(node) and node.as_string() in index.flags else None
    if not is_choice(node):
        return None
    text = node.as_string()
    opposite = text.replace(" != ", " == ") if " != " in text else text.replace(" == ", " != ")
    return on_xla if text in index.flags else not on_xla if opposite in index.flags else None


def answer_of_kind(node: nodes.NodeNG, kinds: dict[str, str]) -> bool | None:
    """What a comparison with one of `Index.kinds` answers on XLA; None for another test."""
    if not isinstance(node, nodes.Compare) or len(node.ops) != 1 or not isinstance(node.left, NAMED):
        return None
    kind, (op, right) = kinds.get(last_name(node.left)), node.ops[0]
    if kind is None or not isinstance(right, nodes.Const) or not isinstance(right.value, str):
        return None
    return {"==": right.value == kind, "!=": right.value != kind}.get(op)


def stated(machine: Machine, node: nodes.NodeNG | None, value: Value) -> Value:
    """What an expression that asks for the device gives where its own parts do not tell."""
    known = isinstance(value, Number) and value.const is not None
    asked = None if known or node is None else asks_for_device(node)
    return value if asked is None else Number(asked is (machine.backend is ASSUMED), traits=OF_KIND)
