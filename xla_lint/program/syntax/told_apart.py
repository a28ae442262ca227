"""What the tests around a place, and those that ended other paths before it, say of an expression."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

ENDING = (nodes.Return, nodes.Raise, nodes.Continue, nodes.Break)


def is_not_one(expression: nodes.NodeNG) -> bool:
    """Whether a whole number, where an expression stands, is known to be another one than 1 by tests of its text."""
    text = expression.as_string()
    return any(excludes_one(test, holds, text) for test, holds in tests_passed(expression))


def tests_passed(node: nodes.NodeNG) -> Iterator[tuple[nodes.NodeNG, bool]]:
    """The tests that led to a node in its function, and whether each of them held."""
    child: nodes.NodeNG = node.statement()
    while (parent := child.parent) is not None and not isinstance(child, nodes.FunctionDef):
        block = next((b for b in blocks(parent) if child in b), [])
        for earlier in block[: block.index(child)] if block else ():
            if isinstance(earlier, nodes.If) and not earlier.orelse and isinstance(earlier.body[-1], ENDING):
                yield earlier.test, False
        if isinstance(parent, nodes.If) and block:
            yield parent.test, block is parent.body
        child = parent


def blocks(node: nodes.NodeNG) -> Iterator[list[nodes.NodeNG]]:
    """The lists of statements inside a statement, a function or a module."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block


def excludes_one(test: nodes.NodeNG, holds: bool, text: str) -> bool:
    """Whether a test of a number by its text leaves out 1, where it holds or where it does not."""
    if not isinstance(test, nodes.Compare) or len(test.ops) != 1 or test.left.as_string() != text:
        return False
    operator, right = test.ops[0]
    if not isinstance(right, nodes.Const):
        return False
    ruled_out = {("==", 1): False, ("<=", 1): False, ("<", 2): False, ("!=", 1): True, (">", 1): True, (">=", 2): True}
    return ruled_out.get((operator, right.value)) is holds
