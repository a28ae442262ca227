"""What the source says that no event does: how names are imported and used, and what other branches call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.backend import OWN_PACKAGES
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import absolute
from xla_lint.program.syntax.imports import always_imports, assigned_value, bindings_of, dotted_name, imports_of
from xla_lint.program.syntax.index import index_of, last_name
from xla_lint.program.syntax.uses import Use

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

__all__ = [
    "attributes_iterated",
    "branches_around",
    "calls_in_other_branches",
    "dotted_name",
    "file_name",
    "fills_up",
    "is_import",
    "names_in",
    "needs_xla",
    "only_calls",
    "use_of",
]
MADE_OF_NUMBERS_OR_FILES = frozenset({"open", "range"})
"""The functions that give something else to iterate than what they are given."""


def file_name(module: nodes.NodeNG | None) -> str:
    """What messages call a module's file."""
    assert isinstance(module, nodes.Module)
    return Project.around(module.file).name_of(absolute(module.file)) if module.file else str(module.name)


def needs_xla(module: nodes.Module) -> bool:
    """Whether a module cannot be imported without torch_xla."""
    return always_imports(module, OWN_PACKAGES)


def only_calls(region: nodes.NodeNG, names: Container[str]) -> bool:
    """Whether a function or a `with` does nothing but arithmetic and calls of functions of these last names."""
    body = region.body if isinstance(region, (nodes.FunctionDef, nodes.With)) else [region]
    views = (nodes.Subscript, nodes.Await, nodes.Yield, nodes.FunctionDef, nodes.ClassDef)
    for statement in body:
        if any(True for _ in statement.nodes_of_class(views)):
            return False
        if any(attribute.attrname in ("T", "mT", "H", "mH") for attribute in statement.nodes_of_class(nodes.Attribute)):
            return False
        if any(operation.op == "@" for operation in statement.nodes_of_class(nodes.BinOp)):
            return False
        if any(last_name(call.func) not in names for call in statement.nodes_of_class(nodes.Call)):
            return False
    return True


def computes_with(function: nodes.NodeNG, parameter: str) -> bool:
    """Whether a function puts a parameter into an arithmetic or an index, and not into tests alone."""
    return any(is_computed_with(name) for name in function.nodes_of_class(nodes.Name) if name.name == parameter)


def is_computed_with(name: nodes.Name) -> bool:
    """Whether a name is part of an arithmetic or an index which is no test and no text."""
    inner: nodes.NodeNG = name
    around, computes = name.parent, False
    while around is not None and not around.is_statement:
        if isinstance(around, (nodes.Compare, nodes.JoinedStr, nodes.IfExp)):
            return False
        computes |= isinstance(around, nodes.BinOp) or (isinstance(around, nodes.Subscript) and inner is around.slice)
        inner, around = around, around.parent
    tests = isinstance(around, (nodes.If, nodes.While)) and inner is around.test
    return computes and not tests


def fills_up(call: nodes.NodeNG) -> bool:
    """Whether an argument of a call is what a length lacks: `new_zeros(size - len(rows))`, through a name as well."""
    parts = [*call.args, *(keyword.value for keyword in call.keywords)] if isinstance(call, nodes.Call) else []
    for part in parts:
        for inner in (part, *(part.elts if isinstance(part, (nodes.Tuple, nodes.List)) else ())):
            bindings = bindings_of(inner) if isinstance(inner, nodes.Name) else []
            value = assigned_value(bindings[0]) if len(bindings) == 1 else inner
            if isinstance(value, nodes.BinOp) and value.op == "-" and is_length(value.right):
                return True
    return False


def is_length(node: nodes.NodeNG) -> bool:
    """Whether an expression asks for a length: `len(x)`, `x.size(0)`, `x.shape[0]`."""
    if isinstance(node, nodes.Call):
        return last_name(node.func) in ("len", "size")
    return isinstance(node, nodes.Subscript) and last_name(node.value) == "shape"


def sets_attribute(module: nodes.Module, name: str, value: object) -> bool:
    """Whether a module sets an attribute of this name to a constant."""
    return any(
        isinstance(target.parent, nodes.Assign)
        and isinstance(target.parent.value, nodes.Const)
        and target.parent.value.value == value
        for target in module.nodes_of_class(nodes.AssignAttr)
        if target.attrname == name
    )


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


def names_in(cls: nodes.NodeNG) -> set[str]:
    """The names and attributes that a class, and the functions of its module that it names, mention."""
    found: set[str] = set()
    module, pending = cls.root(), [cls]
    for part in pending:
        named = {node.name for node in part.nodes_of_class(nodes.Name)}
        found |= named | {node.attrname for node in part.nodes_of_class(nodes.Attribute)}
        functions = (node for name in named for node in module.locals.get(name, ()))
        pending += [node for node in functions if isinstance(node, nodes.FunctionDef) and node not in pending]
    return found


def attributes_iterated(cls: nodes.NodeNG) -> set[str]:
    """The attributes that a class iterates, and not only names a file or a number by."""
    walked = [node.iter for node in cls.nodes_of_class((nodes.For, nodes.Comprehension))]
    walked += [node.value for node in cls.nodes_of_class(nodes.YieldFrom) if node.value is not None]
    return {name for expression in walked for name in _attributes_in(expression)}


def _attributes_in(expression: nodes.NodeNG) -> Iterator[str]:
    if isinstance(expression, nodes.Attribute):
        yield expression.attrname
    if not (isinstance(expression, nodes.Call) and expression.func.as_string() in MADE_OF_NUMBERS_OR_FILES):
        for part in expression.get_children():
            yield from _attributes_in(part)
