"""What a test tells of the names in it, where it holds and where it does not."""

from __future__ import annotations

import enum
from typing import Any

from astroid import nodes

from xla_lint.program.domain.join import join_all
from xla_lint.program.domain.values import NO_TENSOR, NONE, Tensor, Value, options
from xla_lint.program.syntax.index import last_name

SCALARS = frozenset("int float bool str bytes complex generic number integer floating".split())
"""Types of Python and NumPy that are no tensors, and hold none."""
TENSOR_METHODS = frozenset({"to", "cpu", "cuda", "item", "detach", "numpy"})
"""What a value is asked for to know whether it is a tensor."""


class Being(enum.Enum):
    """What a test tells of a value."""

    NONE = "None"
    SOME = "not None"
    SCALAR = "a number or a text"
    OTHER = "no tensor"


Narrowings = list[tuple[nodes.NodeNG, Being]]


def narrowing(node: nodes.NodeNG) -> tuple[Narrowings, Narrowings]:
    """What is known of names where a test holds, and where it does not."""
    if isinstance(node, nodes.Name):
        return [(node, Being.SOME)], []
    if isinstance(node, nodes.NamedExpr):
        return [(node.target, Being.SOME)], []
    if isinstance(node, nodes.Compare) and len(node.ops) == 1:
        return _by_none(node)
    if isinstance(node, nodes.Call) and node.args and isinstance(node.args[0], nodes.Name):
        return _by_type(node, node.args[0])
    return [], []


def _by_none(node: nodes.Compare) -> tuple[Narrowings, Narrowings]:
    op, right = node.ops[0]
    if not (isinstance(right, nodes.Const) and right.value is None):
        return [], []
    name = node.left.target if isinstance(node.left, nodes.NamedExpr) else node.left
    if not isinstance(name, (nodes.Name, nodes.AssignName)):
        return [], []
    none: Narrowings = [(name, Being.NONE)]
    some: Narrowings = [(name, Being.SOME)]
    return {"is": (none, some), "==": (none, some), "is not": (some, none), "!=": (some, none)}.get(op, ([], []))


def _by_type(node: nodes.Call, name: nodes.Name) -> tuple[Narrowings, Narrowings]:
    asked = last_name(node.func)
    if asked == "is_tensor":
        return [(name, Being.SOME)], [(name, Being.OTHER)]
    if len(node.args) < 2:
        return [], []
    kinds = node.args[1]
    if asked == "hasattr":
        method = kinds.value if isinstance(kinds, nodes.Const) else None
        return [(name, Being.SOME)], [(name, Being.OTHER)] if method in TENSOR_METHODS else []
    if asked != "isinstance":
        return [], []
    listed: list[Any] = kinds.elts if isinstance(kinds, nodes.Tuple) else [kinds]
    names = {last_name(kind) for kind in listed}
    if names <= SCALARS:
        return [(name, Being.SCALAR)], []
    return [(name, Being.SOME)], [(name, Being.OTHER)] if "Tensor" in names else []


def narrowed(value: Value, being: Being) -> Value:
    """What is left of a value of which something is known. What a model gives may be a tuple, and no tensor."""
    if being is Being.NONE:
        return NONE
    left = [option for option in options(value) if option is not NONE]
    if being is not Being.SOME:
        left = [o for o in left if not isinstance(o, Tensor) or (being is Being.OTHER and o.unstructured)]
        left = left or [NO_TENSOR]
    return join_all(left)
