"""Where a module sets environment variables, and whether a backend has been imported by then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from astroid import nodes

from xla_lint.program.backend import package_of
from xla_lint.program.domain.contexts import Context
from xla_lint.program.domain.events import EnvironmentSet
from xla_lint.program.syntax.imports import assigned_value, bindings_of, dotted_name
from xla_lint.program.syntax.index import index_of, root_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.program.syntax.reachable import ReachableCode, Spot

ENVIRONMENT = "os.environ"
SETTERS = frozenset({f"{ENVIRONMENT}.setdefault", "os.putenv", f"{ENVIRONMENT}.__setitem__"})
Setting = tuple[nodes.NodeNG, nodes.NodeNG]
"""The expressions of a variable's name and its value."""


def environment_sets(code: ReachableCode) -> Iterator[Event]:
    """Every place that sets an environment variable whose name the source states."""
    names = index_of(code.module).names_for("os")
    found = [(spot, setting) for spot in code.spots if may_set(spot.node, names) for setting in settings(spot.node)]
    if not found:
        return
    imported = [spot for spot in code.spots if imports_backend(spot.node)]
    called: dict[str, Spot] = {}
    for spot in code.spots:
        if isinstance(spot.node, nodes.Call) and isinstance(spot.node.func, nodes.Name):
            called.setdefault(spot.node.func.name, spot)
    context = Context((), frozenset(), (), False, False)
    for spot, (key, value) in found:
        for name in texts_of(key):
            yield EnvironmentSet(spot.node, context, name, text_of(value), is_late(spot, imported, called))


def may_set(node: nodes.NodeNG, names: Collection[str]) -> bool:
    """False where nothing of the environment is set: `names` are those that may stand for `os` or a part of it."""
    if type(node) is nodes.Call:
        return root_name(node) in names
    return bool(names) and isinstance(node, (nodes.Assign, nodes.AugAssign))


def settings(node: nodes.NodeNG) -> Iterator[Setting]:
    """The variables that a statement or a call sets."""
    if isinstance(node, nodes.Assign):
        for target in node.targets:
            if isinstance(target, nodes.Subscript) and dotted_name(target.value) == ENVIRONMENT:
                yield target.slice, node.value
    elif isinstance(node, nodes.AugAssign):
        if dotted_name_of_target(node.target) == ENVIRONMENT and isinstance(node.value, nodes.Dict):
            yield from entries(node.value)
    elif isinstance(node, nodes.Call):
        function = dotted_name(node.func)
        if function in SETTERS and len(node.args) == 2:
            yield node.args[0], node.args[1]
        elif function == f"{ENVIRONMENT}.update":
            for argument in map(display_of, node.args):
                if isinstance(argument, nodes.Dict):
                    yield from entries(argument)
            for keyword in node.keywords:
                if keyword.arg is not None:
                    yield nodes.const_factory(keyword.arg), keyword.value


def dotted_name_of_target(target: nodes.NodeNG) -> str | None:
    """The dotted name of what an augmented assignment changes."""
    if isinstance(target, nodes.AssignAttr):
        owner = dotted_name(target.expr)
        return f"{owner}.{target.attrname}" if owner is not None else None
    return None


def text_of(node: nodes.NodeNG) -> str | None:
    """The text of a constant, also through a name that is assigned once."""
    value = display_of(node)
    return value.value if isinstance(value, nodes.Const) and isinstance(value.value, str) else None


def texts_of(node: nodes.NodeNG) -> list[str]:
    """The texts that an expression is in turn: one, or one for each turn of the `for` that binds the name."""
    text = text_of(node)
    if text is not None:
        return [text]
    around = node.parent
    while isinstance(node, nodes.Name) and around is not None and not isinstance(around, nodes.FunctionDef):
        if isinstance(around, nodes.For) and any(name.name == node.name for name in names_in(around)):
            inside = [binding for binding in bindings_of(node) if around.parent_of(binding)]
            return turns_of(around, inside[0]) if len(inside) == 1 else []
        around = around.parent
    return []


def names_in(loop: nodes.For) -> list[nodes.AssignName]:
    """The names that a `for` binds."""
    return list(loop.target.nodes_of_class(nodes.AssignName))


def turns_of(loop: nodes.For, name: nodes.NodeNG) -> list[str]:
    """The texts that a `for` over a display of constants binds to a name: its target, or a part of that."""
    targets = loop.target.elts if isinstance(loop.target, nodes.Tuple) else [loop.target]
    position = next((place for place, part in enumerate(targets) if part is name), None)
    rows = [row for row in displayed(loop.iter) if len(row) == len(targets)]
    parts = [row[position] for row in rows] if position is not None else []
    return [part.value for part in parts if isinstance(part, nodes.Const) and isinstance(part.value, str)]


def displayed(node: nodes.NodeNG) -> list[tuple[nodes.NodeNG, ...]]:
    """The items of a list, tuple, set or dict display, or of `.items()` of a dict display, through a name as well.

    Each item is given as its parts: a pair has two.
    """
    if isinstance(node, nodes.Name):
        return displayed(value) if (value := display_of(node)) is not node else []
    if isinstance(node, nodes.Call) and isinstance(node.func, nodes.Attribute) and node.func.attrname == "items":
        owner = display_of(node.func.expr)
        return list(entries(owner)) if isinstance(owner, nodes.Dict) else []
    if isinstance(node, nodes.Dict):
        return [(key,) for key, _ in entries(node)]
    items: list[Any] = node.elts if isinstance(node, (nodes.List, nodes.Tuple, nodes.Set)) else []
    rows: list[list[Any]] = [item.elts if isinstance(item, nodes.Tuple) else [item] for item in items]
    return [tuple(row) for row in rows]


def display_of(node: nodes.NodeNG) -> nodes.NodeNG:
    """What a name that is assigned once stands for, where that is no name again; else the expression itself."""
    bindings = bindings_of(node) if isinstance(node, nodes.Name) else []
    value = assigned_value(bindings[0]) if len(bindings) == 1 else None
    return node if value is None or isinstance(value, nodes.Name) else value


def is_late(spot: Spot, imported: list[Spot], called: dict[str, Spot]) -> bool:
    """Whether a backend is imported before a place runs.

    A function of the module runs where the module's top level first calls it, else after all imports of the module.
    """
    functions = spot.guards.functions
    here = line_of(spot.node)
    if any(other.guards.functions == functions and line_of(other.node) < here for other in imported):
        return True
    top = [line_of(other.node) for other in imported if not other.guards.functions]
    if not functions:
        return False
    first = called.get(getattr(functions[0], "name", ""))
    if first is not None and not first.guards.functions:
        return any(line < line_of(first.node) for line in top)
    return bool(top)


def entries(node: nodes.Dict) -> Iterator[Setting]:
    """The keys and values of a dict display."""
    for key, value in node.items:
        if isinstance(key, nodes.NodeNG) and isinstance(value, nodes.NodeNG):
            yield key, value


def imports_backend(node: nodes.NodeNG) -> bool:
    """True for an import of a backend or of a part of it."""
    if isinstance(node, nodes.ImportFrom):
        return not node.level and package_of(node.modname or "") is not None
    return isinstance(node, nodes.Import) and any(package_of(name) is not None for name, _ in node.names)


def line_of(node: nodes.NodeNG) -> int:
    """The line of a node."""
    return int(node.lineno or 0)
