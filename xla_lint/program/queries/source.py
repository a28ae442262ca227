"""What the source says that no event does: how names are imported and used, and what other branches call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.syntax.imports import always_imports_xla, dotted_name, imports_of
from xla_lint.program.syntax.index import index_of
from xla_lint.program.syntax.uses import Use

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

__all__ = ["branches_around", "calls_in_other_branches", "dotted_name", "is_import", "needs_xla", "use_of"]


def needs_xla(module: nodes.Module) -> bool:
    """Whether a module cannot be imported without torch_xla."""
    return always_imports_xla(module)


def is_import(name: nodes.Name) -> bool:
    """Whether a name is bound by imports alone."""
    return bool(imports_of(name))


def use_of(target: nodes.NodeNG) -> Use:
    """How the code around uses a name or attribute that is assigned there; an attribute of `self`, in its class."""
    scope: nodes.NodeNG = target.scope()
    if isinstance(target, nodes.AssignAttr) and isinstance(scope, nodes.FunctionDef) and scope.parent is not None:
        scope = scope.parent.frame()
    return index_of(target.root()).uses(scope).get(target.as_string(), Use())


def branches_around(node: nodes.NodeNG) -> dict[nodes.If, bool]:
    """The `if` statements around a node in its function, and whether it stands where the test of each holds."""
    found: dict[nodes.If, bool] = {}
    inner, outer = node, node.parent
    while outer is not None and not isinstance(outer, (nodes.FunctionDef, nodes.Lambda, nodes.Module)):
        if isinstance(outer, nodes.If) and inner is not outer.test:
            found[outer] = inner in outer.body
        inner, outer = outer, outer.parent
    return found


def calls_in_other_branches(node: nodes.NodeNG, tests: Container[nodes.NodeNG] | None = None) -> Iterator[nodes.Call]:
    """The calls that stand in the opposite branches of the `if` statements around a node, of those with these tests."""
    for choice, when in branches_around(node).items():
        if tests is not None and choice.test not in tests:
            continue
        for statement in choice.orelse if when else choice.body:
            yield from statement.nodes_of_class(nodes.Call)
