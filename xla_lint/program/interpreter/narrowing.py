"""What a test tells of the names in it, where it holds and where it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from astroid import Context, nodes

from xla_lint.program.domain.being import Being
from xla_lint.program.syntax.index import last_name
from xla_lint.program.syntax.spelling import REFERENCES

if TYPE_CHECKING:
    from collections.abc import Iterator

SCALARS = frozenset("int float bool str bytes complex generic number integer floating".split())
"""Types of Python and NumPy that are no tensors, and hold none."""
CONTAINERS = frozenset({"list", "tuple", "dict", "set", "frozenset"})
"""Types that are no tensors themselves; what a model gives may be one of them."""
STORES = (nodes.AssignName, nodes.AssignAttr, nodes.Subscript, nodes.DelName, nodes.DelAttr)
TENSOR_METHODS = frozenset({"to", "cpu", "cuda", "item", "detach", "numpy"})
"""What a value is asked for to know whether it is a tensor."""


Narrowings = list[tuple[nodes.NodeNG, Being]]


def narrowing(node: nodes.NodeNG) -> tuple[Narrowings, Narrowings]:
    """What is known of names where a test holds, and where it does not."""
    if isinstance(node, nodes.Name):
        return [(node, Being.SOME)], []
    if isinstance(node, nodes.NamedExpr):
        return [(node.target, Being.SOME)], []
    if isinstance(node, nodes.Compare) and len(node.ops) == 1:
        return _by_none(node)
    if isinstance(node, nodes.Call) and node.args and isinstance(node.args[0], REFERENCES):
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


def _by_type(node: nodes.Call, name: nodes.NodeNG) -> tuple[Narrowings, Narrowings]:
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
    if names <= CONTAINERS:
        return [(name, Being.OTHER)], []
    return [(name, Being.SOME)], [(name, Being.OTHER)] if "Tensor" in names else []


def written_again(told: Narrowings, block: list[nodes.NodeNG]) -> Iterator[tuple[nodes.NodeNG, Being]]:
    """Where a block under a test writes an attribute or an item again that the test found to be no tensor.

    Nothing is known of it where the block sets it, or anything that its expression names.
    """
    for known, being in told:
        if being in (Being.NONE, Being.SOME) or not isinstance(known, (nodes.Attribute, nodes.Subscript)):
            continue
        text = known.as_string()
        named = {name.name for name in known.nodes_of_class(nodes.Name)}
        if not any(store in named or text.startswith(store) for store in _stored(block)):
            again = (node for part in block for node in part.nodes_of_class(type(known)))
            yield from ((node, being) for node in again if node.as_string() == text)


def _stored(block: list[nodes.NodeNG]) -> Iterator[str]:
    """What a block sets or deletes, as it is written."""
    for node in (node for part in block for node in part.nodes_of_class(STORES)):
        if not isinstance(node, nodes.Subscript) or node.ctx is not Context.Load:
            yield node.as_string()
