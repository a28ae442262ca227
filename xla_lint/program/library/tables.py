"""Tables of numbers: lists and arrays that stand outside all loops and stay as they are, and become tensors inside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from astroid import nodes

from xla_lint.program.domain.definitions import Class
from xla_lint.program.domain.join import element_of
from xla_lint.program.domain.objects import lineage
from xla_lint.program.domain.values import UNKNOWN, Number, Sequence
from xla_lint.program.syntax.imports import assigned_value, bindings_of
from xla_lint.program.syntax.uses import path_of, receiver_of

if TYPE_CHECKING:
    from xla_lint.program.domain.values import Value
    from xla_lint.program.machine.machine import Machine

MUTATORS = frozenset({"append", "extend", "insert", "pop", "popleft", "clear", "fill", "put", "remove", "update"})
"""The methods by which lists and arrays change."""
CONSTRUCTORS = frozenset({"__init__", "__post_init__", "setup"})
SPANS = frozenset({"arange", "eye", "full", "geomspace", "linspace", "logspace", "ones", "zeros"})
"""The functions of numpy and torch that make tables from their ends or their size."""
COMPUTED = frozenset(
    {"append", "array", "asarray", "astype", "concatenate", "cos", "cumprod", "cumsum", "exp", "float32", "float64",
     "hstack", "log", "numpy", "outer", "sin", "sqrt", "stack", "tolist", "vstack"}
)  # fmt: skip
"""Functions and methods that give a table where they are given tables and numbers."""
DEEPEST = 6
"""How many assignments and operations an expression is followed through."""


def is_table(machine: Machine, data: Value | None, call: nodes.NodeNG) -> bool:
    """Whether a tensor is made from a table: a constant of the module, or what the constructor alone has set."""
    if not machine.loops or not isinstance(call, nodes.Call) or not call.args:
        return False
    if not (data is UNKNOWN or (isinstance(data, Sequence) and isinstance(element_of(data), Number))):
        return False
    given = call.args[0]
    if isinstance(given, nodes.Name):
        return is_constant_of_module(machine, given)
    receiver = receiver_of(given)
    owner = machine.at.frame.owner
    if receiver is None or owner is None or not isinstance(given, nodes.Attribute):
        return False
    path = path_of(given, receiver)
    return path is not None and path.startswith("self.") and is_set_once(machine, owner, given.attrname)


def is_constant_of_module(machine: Machine, name: nodes.Name) -> bool:
    """Whether a name stands for a table that the top level of its module makes, and that nothing changes."""
    bindings = bindings_of(name)
    value = assigned_value(bindings[0]) if len(bindings) == 1 else None
    if value is None or value.statement().parent is not name.root() or not is_made_of_numbers(value, None):
        return False
    use = machine.uses(name.root()).get(name.name)
    return use is None or not (use.methods & MUTATORS or use.filled)


def is_set_once(machine: Machine, cls: Class, name: str) -> bool:
    """Whether constructors alone set an attribute of a class to a table, and nothing in the class changes that."""
    for base in lineage(cls):
        if isinstance(base, Class) and base.frame.index is not None:
            use = base.frame.index.uses(base.node).get(f"self.{name}")
            if use is not None and use.methods & MUTATORS:
                return False
            if any(changes_item(item, name) for item in base.node.nodes_of_class(nodes.Subscript)):
                return False
    places = assigned_on(cls, name)
    return bool(places) and all(is_in_constructor(p) and is_made_of_numbers(value_at(p), cls) for p in places)


def assigned_on(cls: Class, name: str) -> list[nodes.AssignAttr]:
    """Where a class and its bases set an attribute of that name."""
    bases = (base for base in lineage(cls) if isinstance(base, Class) and base.frame.index is not None)
    return [place for base in bases if base.frame.index for place in base.frame.index.assigned_on(base.node, name)]


def value_at(place: nodes.AssignAttr) -> nodes.NodeNG | None:
    """The expression that an assignment gives an attribute."""
    found: nodes.NodeNG | None = getattr(place.parent, "value", None)
    return found


def is_in_constructor(place: nodes.NodeNG) -> bool:
    """Whether something stands in a constructor."""
    return getattr(place.frame(), "name", "") in CONSTRUCTORS


def changes_item(item: nodes.Subscript, name: str) -> bool:
    """Whether an item of an attribute is set."""
    held = item.value
    assigned = isinstance(item.parent, (nodes.Assign, nodes.AugAssign)) and item.parent.value is not item
    return assigned and isinstance(held, nodes.Attribute) and held.attrname == name


def is_made_of_numbers(value: nodes.NodeNG | None, cls: Class | None, depth: int = DEEPEST) -> bool:
    """Whether an expression, in a method of a class if one is given, is made of constant numbers and their tables."""
    if value is None or depth == 0:
        return False
    if isinstance(value, (nodes.List, nodes.Tuple)):
        items: list[Any] = value.elts
        return bool(items) and all(is_made_of_numbers(item, cls, depth - 1) for item in items)
    if isinstance(value, nodes.UnaryOp):
        return is_made_of_numbers(value.operand, cls, depth - 1)
    if isinstance(value, nodes.BinOp):
        return is_made_of_numbers(value.left, cls, depth - 1) and is_made_of_numbers(value.right, cls, depth - 1)
    if isinstance(value, nodes.Subscript):
        return is_made_of_numbers(value.value, cls, depth - 1)
    if isinstance(value, nodes.Call) and isinstance(value.func, nodes.Attribute):
        made = value.func.attrname in COMPUTED
        parts = value.args if is_module(value.func.expr) else [value.func.expr, *value.args]
        return value.func.attrname in SPANS or (made and all(is_made_of_numbers(p, cls, depth - 1) for p in parts))
    if isinstance(value, nodes.Name):
        bindings = bindings_of(value)
        return len(bindings) == 1 and is_made_of_numbers(assigned_value(bindings[0]), cls, depth - 1)
    return is_number(value) or (isinstance(value, nodes.Attribute) and is_made_in_class(value, cls, depth))


def is_module(node: nodes.NodeNG) -> bool:
    """Whether an expression names a module of numbers."""
    return isinstance(node, nodes.Name) and node.name in ("np", "numpy", "torch", "math")


def is_made_in_class(value: nodes.Attribute, cls: Class | None, depth: int) -> bool:
    """Whether an attribute of `self` is made of numbers, or named by a module of numbers: `np.pi`."""
    if is_module(value.expr):
        return True
    places = assigned_on(cls, value.attrname) if cls is not None else []
    return len(places) == 1 and is_made_of_numbers(value_at(places[0]), cls, depth - 1)


def is_number(value: nodes.NodeNG) -> bool:
    """Whether an expression is a constant number."""
    return isinstance(value, nodes.Const) and isinstance(value.value, (int, float))
