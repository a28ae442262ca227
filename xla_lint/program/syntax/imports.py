"""What a module's names refer to through its imports, told from the source alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from astroid import nodes

from xla_lint.program.syntax.names import canonical

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

MOST_ALIASES = 4
"""How many assignments of one name to another are followed."""


def bindings_of(node: nodes.Name) -> Sequence[nodes.NodeNG]:
    """The nodes that bind a name in the scope that holds it; empty for a name that the module does not bind."""
    scope: nodes.LocalsDictNodeNG | None = node.scope()
    inner = scope
    while scope is not None:
        if node.name in scope.locals and (scope is inner or not isinstance(scope, nodes.ClassDef)):
            return cast("list[nodes.NodeNG]", scope.locals[node.name])
        scope = scope.parent.scope() if scope.parent is not None else None
    return []


def assigned_value(binding: nodes.NodeNG) -> nodes.NodeNG | None:
    """The expression that `name = expression` binds, None for every other way of binding."""
    statement = binding.parent
    if isinstance(binding, nodes.AssignName) and isinstance(statement, (nodes.Assign, nodes.AnnAssign)):
        return statement.value
    return None


def is_none_constant(node: nodes.NodeNG | None) -> bool:
    """True for the expression `None`."""
    return isinstance(node, nodes.Const) and node.value is None


def imports_of(node: nodes.Name) -> list[tuple[nodes.Import | nodes.ImportFrom, str]]:
    """The imports that bind a name, each with the dotted name it stands for.

    Empty unless everything that binds the name is an import, or `None` in place of one that failed.
    """
    found: list[tuple[nodes.Import | nodes.ImportFrom, str]] = []
    for binding in bindings_of(node):
        if isinstance(binding, (nodes.Import, nodes.ImportFrom)):
            dotted = imported_name(binding, node.name)
            if dotted is None:
                return []
            found.append((binding, dotted))
        elif not is_none_constant(assigned_value(binding)):
            return []
    return found


def imported_name(statement: nodes.Import | nodes.ImportFrom, bound: str) -> str | None:
    """The dotted name that an import binds to a name; None for a relative import."""
    if isinstance(statement, nodes.ImportFrom):
        if statement.level:
            return None
        for name, alias in statement.names:
            if (alias or name) == bound:
                return canonical(f"{statement.modname}.{name}")
        return None
    for name, alias in statement.names:
        if alias == bound:
            return canonical(name)
        if alias is None and name.partition(".")[0] == bound:
            return bound
    return None


def dotted_name(node: nodes.NodeNG, aliases: int = MOST_ALIASES) -> str | None:
    """The canonical dotted name that a name or a chain of attributes refers to; None where it refers to no import."""
    if isinstance(node, nodes.Attribute):
        owner = dotted_name(node.expr, aliases)
        return canonical(f"{owner}.{node.attrname}") if owner is not None else None
    if not isinstance(node, nodes.Name):
        return None
    imports = imports_of(node)
    if imports:
        return imports[0][1]
    bindings = bindings_of(node)
    value = assigned_value(bindings[0]) if len(bindings) == 1 else None
    if aliases and isinstance(value, (nodes.Name, nodes.Attribute)):
        return dotted_name(value, aliases - 1)
    return None


def always_imports(module: nodes.Module, wanted: Collection[str]) -> bool:
    """Whether a module cannot be imported without one of some packages: its top level imports it under no test."""
    for statement in module.body:
        if isinstance(statement, nodes.Import):
            packages = {name.partition(".")[0] for name, _ in statement.names}
        elif isinstance(statement, nodes.ImportFrom) and not statement.level:
            packages = {(statement.modname or "").partition(".")[0]}
        else:
            continue
        if not packages.isdisjoint(wanted):
            return True
    return False
