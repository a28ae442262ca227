"""Running totals of values that a step reads: they can stay on the device until the loop is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.fixes.changes import Fix, Span, SumUp
from xla_lint.program.domain.loops import Cut, Form

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Read
    from xla_lint.program.domain.loops import Loop

SUM_LATER = Fix("add up on the device, in float32, and read the total once after the loop", safe=False)
COUNT_LATER = Fix("count on the device, and read the total once after the loop", safe=True)
COMPARISONS = frozenset("eq ne gt ge lt le isclose logical_and logical_or logical_not".split())
"""Methods and functions whose results are true or false."""
FLOATING = frozenset(
    "mean std var norm softmax log_softmax sigmoid exp log sqrt cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss "
    "huber_loss kl_div binary_cross_entropy binary_cross_entropy_with_logits".split()
)
"""Methods and functions whose results are never whole numbers by their kind."""


def adding_up(read: Read) -> tuple[Fix, SumUp] | None:
    """How a total can stay on the device until its loop is done; None where it may be seen or broken off before."""
    statement, step = read.node.statement(), loop_to_wait_for(read)
    if step is None:
        return None
    tensor, total = what_is_read(read.node), _added_to(statement, read.node)
    if tensor is None or total is None or not ends_as_it_begins(step.node, statement):
        return None
    starts = set(_starts(total.name, statement, step.node))
    counts = starts == {int} and isinstance(read.node.parent, nodes.AugAssign) and is_count(tensor)
    sums = starts and None not in starts and not _is_whole(read.node)
    if not counts and not (sums and (float in starts or is_floating(tensor, step.node))):
        return None
    change = SumUp(Span.of(read.node), Span.of(tensor), Span.of(step.node), total.name, counts)
    return (COUNT_LATER if counts else SUM_LATER), change


def loop_to_wait_for(read: Read) -> Loop | None:
    """The step loop with a barrier behind which a read may stand; None where that is step code of another loop."""
    step = read.context.step
    if step is None or step.form is not Form.LOOP or not (step.wrapped or step.cut is Cut.ALWAYS):
        return None
    return step if sum(loop.is_step for loop in read.context.loops) == 1 else None


def ends_as_it_begins(loop: nodes.NodeNG, statement: nodes.NodeNG) -> bool:
    """Whether the loop around a statement is one of its own function, which no error leaves for code behind it."""
    scope, around = statement.scope(), list(loop.node_ancestors())
    inside = around[: around.index(scope)] if scope in around else []
    return (
        isinstance(loop, (nodes.For, nodes.While))
        and loop in statement.node_ancestors()
        and loop.scope() is scope
        and not any(isinstance(part, nodes.Try) for part in inside)
        and not any(
            "suppress" in item.as_string() for part in inside if isinstance(part, nodes.With) for item, _ in part.items
        )
    )


def what_is_read(node: nodes.NodeNG) -> nodes.NodeNG | None:
    """The tensor whose value a call gives as a number."""
    if not isinstance(node, nodes.Call) or node.keywords:
        return None
    if isinstance(node.func, nodes.Attribute) and node.func.attrname == "item" and not node.args:
        return node.func.expr
    is_number = isinstance(node.func, nodes.Name) and node.func.name in ("float", "int")
    return node.args[0] if is_number and len(node.args) == 1 else None


def _is_whole(read: nodes.NodeNG) -> bool:
    """Whether what is read is cut down to a whole number."""
    return isinstance(read, nodes.Call) and isinstance(read.func, nodes.Name) and read.func.name == "int"


def _added_to(statement: nodes.NodeNG, read: nodes.NodeNG) -> nodes.AssignName | None:
    """The variable to which a statement adds what is read, multiplied or divided by numbers at most."""
    if not isinstance(statement, nodes.AugAssign) or statement.op != "+=":
        return None
    node = read
    while node is not statement.value:
        parent = node.parent
        if not isinstance(parent, nodes.BinOp) or parent.op not in ("*", "/"):
            return None
        other = parent.right if parent.left is node else parent.left
        if (parent.op == "/" and other is parent.left) or not (_is_number(other) or _is_setting(other)):
            return None
        node = parent
    return statement.target if isinstance(statement.target, nodes.AssignName) else None


def _is_number(node: nodes.NodeNG) -> bool:
    """Whether an expression surely is a number of the host: a literal, a length, or a part of a shape."""
    if isinstance(node, nodes.Const):
        return isinstance(node.value, (int, float))
    if isinstance(node, nodes.Subscript):
        return isinstance(node.value, nodes.Attribute) and node.value.attrname == "shape"
    if not isinstance(node, nodes.Call):
        return False
    if isinstance(node.func, nodes.Attribute):
        return node.func.attrname == "size" and len(node.args) == 1
    return isinstance(node.func, nodes.Name) and node.func.name == "len"


def _is_setting(node: nodes.NodeNG) -> bool:
    """Whether a name or an attribute of one is no variable that changes with a loop."""
    owner = node.expr if isinstance(node, nodes.Attribute) else node
    if not isinstance(owner, nodes.Name):
        return False
    bindings = owner.scope().locals.get(owner.name, ())
    return not any(isinstance(binding.statement(), (nodes.For, nodes.AugAssign)) for binding in bindings)


def _starts(total: str, statement: nodes.NodeNG, loop: nodes.NodeNG) -> Iterator[type | None]:
    """The kinds of numbers from which a variable starts; None where it may be anything, or is seen meanwhile."""
    scope = statement.scope()
    if any(total in node.names for node in scope.nodes_of_class((nodes.Global, nodes.Nonlocal))):
        yield None
    for name in scope.nodes_of_class((nodes.Name, nodes.AssignName, nodes.DelName)):
        if name.name != total or name.parent is statement:
            continue
        if name.scope() is not scope or loop in name.node_ancestors():
            yield None
        elif not isinstance(name, nodes.Name):
            yield _start(name)


def _start(name: nodes.NodeNG) -> type | None:
    """The kind of number that is assigned to a name."""
    parent = name.parent
    value: object = parent.value if isinstance(parent, (nodes.Assign, nodes.AnnAssign)) else None
    if isinstance(parent, nodes.Tuple) and isinstance(parent.parent, nodes.Assign):
        values = parent.parent.value
        pairs = zip(parent.elts, values.elts, strict=False) if isinstance(values, nodes.Tuple) else ()
        value = next((given for target, given in pairs if target is name), None)
    if isinstance(value, nodes.Const) and type(value.value) in (int, float):
        return type(value.value)
    return None


def is_count(tensor: nodes.NodeNG) -> bool:
    """Whether an expression is the sum of truths, which is a whole number."""
    if (
        not isinstance(tensor, nodes.Call)
        or not isinstance(tensor.func, nodes.Attribute)
        or tensor.func.attrname != "sum"
    ):
        return False
    summed = tensor.args[0] if isinstance(tensor.func.expr, nodes.Name) and tensor.args else tensor.func.expr
    if isinstance(summed, nodes.Call) and isinstance(summed.func, nodes.Attribute):
        return summed.func.attrname in COMPARISONS
    return isinstance(summed, nodes.Compare)


def is_floating(tensor: nodes.NodeNG, loop: nodes.NodeNG) -> bool:
    """Whether a tensor surely holds no whole number: a loss, a mean, or what the loop differentiates."""
    if isinstance(tensor, nodes.Call):
        return _called(tensor) in FLOATING
    if not isinstance(tensor, nodes.Name):
        return False
    calls = [call.func for call in loop.nodes_of_class(nodes.Call) if _called(call) == "backward"]
    if any(
        isinstance(f.expr, nodes.Name) and f.expr.name == tensor.name for f in calls if isinstance(f, nodes.Attribute)
    ):
        return True
    bindings = [name for name in loop.nodes_of_class(nodes.AssignName) if name.name == tensor.name]
    values = [binding.parent.value if isinstance(binding.parent, nodes.Assign) else None for binding in bindings]
    return bool(values) and all(isinstance(value, nodes.Call) and _called(value) in FLOATING for value in values)


def _called(call: nodes.Call) -> str:
    """The last name of what is called."""
    return str(getattr(call.func, "attrname", getattr(call.func, "name", "")))
