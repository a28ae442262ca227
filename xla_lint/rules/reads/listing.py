"""Values that a step reads to put them on a list: the list can hold tensors until the loop is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.fixes.changes import Fix, Gather, Span
from xla_lint.rules.reads.adding import ends_as_it_begins, is_count, is_floating, loop_to_wait_for, what_is_read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Read

LIST_LATER = Fix("keep the values on the device, and read the list once after the loop", safe=True)
SAME_TENSOR = frozenset("detach data view reshape flatten squeeze unsqueeze float double to".split())
"""Methods and attributes that may give what they are asked of, or a view of it."""


def listing(read: Read) -> tuple[Fix, Gather] | None:
    """How a list of values can hold tensors until its loop is done; None where it may be seen or broken off before."""
    statement, step = read.node.statement(), loop_to_wait_for(read)
    if step is None:
        return None
    tensor, values = what_is_read(read.node), _listed_in(statement, read.node)
    if tensor is None or values is None or not ends_as_it_begins(step.node, statement):
        return None
    begins = list(_beginnings(values, statement, step.node))
    if not begins or None in begins or not _stays(tensor, step.node):
        return None
    kind = _kind(read.node, tensor, step.node)
    if not kind and any(begin is None or begin.parent is not step.node.parent for begin in begins):
        return None
    change = Gather(Span.of(read.node), Span.of(tensor), Span.of(step.node), values.name, kind)
    return LIST_LATER, change


def _listed_in(statement: nodes.NodeNG, read: nodes.NodeNG) -> nodes.Name | None:
    """The variable on whose list a statement puts what is read, as it is."""
    call = statement.value if isinstance(statement, nodes.Expr) else None
    if not isinstance(call, nodes.Call) or call.args != [read] or not isinstance(call.func, nodes.Attribute):
        return None
    owner = call.func.expr
    return owner if call.func.attrname == "append" and isinstance(owner, nodes.Name) else None


def _beginnings(values: nodes.Name, statement: nodes.NodeNG, loop: nodes.NodeNG) -> Iterator[nodes.NodeNG | None]:
    """The statements that begin a list; None where it may be anything else, or is seen before the loop is done."""
    scope, first = statement.scope(), loop.fromlineno
    if any(values.name in node.names for node in scope.nodes_of_class((nodes.Global, nodes.Nonlocal))):
        yield None
    for name in scope.nodes_of_class((nodes.Name, nodes.AssignName, nodes.DelName)):
        if name is values or name.name != values.name:
            continue
        if name.scope() is not scope or loop in name.node_ancestors():
            yield None
        elif not isinstance(name, nodes.Name):
            yield name.statement() if _is_empty_list(name) else None
        elif name.fromlineno < first:
            yield None


def _is_empty_list(name: nodes.NodeNG) -> bool:
    """Whether what is assigned to a name is a list of its own, with nothing on it."""
    parent = name.parent
    value: object = parent.value if isinstance(parent, (nodes.Assign, nodes.AnnAssign)) else None
    if isinstance(parent, nodes.Assign) and len(parent.targets) > 1:
        return False
    if isinstance(parent, nodes.Tuple) and isinstance(parent.parent, nodes.Assign):
        values = parent.parent.value
        pairs = zip(parent.elts, values.elts, strict=False) if isinstance(values, nodes.Tuple) else ()
        value = next((given for target, given in pairs if target is name), None)
    return isinstance(value, nodes.List) and not value.elts


def _stays(tensor: nodes.NodeNG, loop: nodes.NodeNG, seen: frozenset[str] = frozenset()) -> bool:
    """Whether a tensor is one that the loop computes anew in each turn, and does not change in place."""
    root = root_of(tensor)
    if root is None or root.name in seen:
        return root is None and isinstance(tensor, (nodes.Call, nodes.BinOp, nodes.Compare))
    bound = [name for name in loop.nodes_of_class(nodes.AssignName) if name.name == root.name]
    given = [part.value for name in bound if isinstance(part := name.statement(), nodes.Assign)]
    changed = any(changed_in_place(root.name, loop))
    computed = all(_stays(value, loop, seen | {root.name}) for value in given)
    return bool(given) and len(given) == len(bound) and computed and not changed


def changed_in_place(name: str, code: nodes.NodeNG) -> Iterator[nodes.NodeNG]:
    """The places at which code changes what a variable holds, or a view or a part of it."""
    for node in code.nodes_of_class((nodes.Call, nodes.Subscript, nodes.AssignName)):
        owner: nodes.NodeNG | None = None
        if isinstance(node, nodes.AssignName):
            owner = node if isinstance(node.parent, nodes.AugAssign) else None
        elif isinstance(node, nodes.Subscript):
            stored = isinstance(node.parent, (nodes.Assign, nodes.AugAssign)) and node is not node.parent.value
            owner = root_of(node) if stored else None
        elif isinstance(node.func, nodes.Attribute) and node.func.attrname.endswith("_"):
            owner = root_of(node.func.expr)
        if getattr(owner, "name", None) == name:
            yield node


def root_of(node: nodes.NodeNG) -> nodes.Name | None:
    """The variable of which an expression gives the same tensor, a view or a part; None where it computes a new one."""
    while True:
        if isinstance(node, nodes.Call) and isinstance(node.func, nodes.Attribute):
            if node.func.attrname not in SAME_TENSOR:
                return None
            node = node.func.expr
        elif isinstance(node, nodes.Attribute):
            node = node.expr
        elif isinstance(node, nodes.Subscript):
            node = node.value
        else:
            return node if isinstance(node, nodes.Name) else None


def _kind(read: nodes.NodeNG, tensor: nodes.NodeNG, loop: nodes.NodeNG) -> str:
    """The kind of number that surely is read; empty where only the tensor knows."""
    if isinstance(read, nodes.Call) and isinstance(read.func, nodes.Name):
        return str(read.func.name)
    if isinstance(tensor, nodes.Call) and isinstance(tensor.func, nodes.Attribute) and tensor.func.attrname == "detach":
        return _kind(read, tensor.func.expr, loop)
    if is_count(tensor):
        return "int"
    return "float" if is_floating(tensor, loop) else ""
