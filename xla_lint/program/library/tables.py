"""Tables of numbers: lists and arrays that stand outside all loops and stay as they are, and become tensors inside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from astroid import nodes

from xla_lint.program.domain.definitions import Class, Function
from xla_lint.program.domain.join import element_of
from xla_lint.program.domain.objects import lineage
from xla_lint.program.domain.values import UNKNOWN, Instance, Number, Sequence
from xla_lint.program.syntax.imports import assigned_value, bindings_of, dotted_name
from xla_lint.program.syntax.index import index_of
from xla_lint.program.syntax.uses import path_of, receiver_of

if TYPE_CHECKING:
    from xla_lint.program.domain.values import Value
    from xla_lint.program.machine.machine import Machine

MUTATORS = frozenset(
    {"append", "extend", "insert", "pop", "popleft", "clear", "fill", "put", "remove", "sort", "update"}
)
"""The methods by which lists and arrays change."""
FILLING = frozenset({"copyto", "fill_diagonal", "place", "put", "putmask", "shuffle"})
"""The functions that write into the array which they are given first."""
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


def is_table(machine: Machine, data: Value | None, call: nodes.NodeNG, *, array: bool) -> bool:
    """Whether a tensor is made from a table: a constant of the module, or what the constructor alone has set.

    `array`: the call takes nothing else than arrays.
    """
    if not machine.loops or not isinstance(call, nodes.Call) or not call.args:
        return False
    if not (data is UNKNOWN or array or (isinstance(data, Sequence) and isinstance(element_of(data), Number))):
        return False
    given, function = handed_down(machine, call.args[0])
    if isinstance(given, nodes.Name):
        return is_constant_of_module(given)
    receiver = receiver_of(given)
    if receiver is None or function is None or function.owner is None or not isinstance(given, nodes.Attribute):
        return False
    path = path_of(given, receiver)
    if path is None or not path.startswith("self."):
        return False
    stays = isinstance(function.receiver, Instance) and function.receiver.around.isdisjoint(machine.loops)
    return is_set_once(function.owner, given.attrname, arrays=stays)


def handed_down(machine: Machine, given: nodes.NodeNG) -> tuple[nodes.NodeNG, Function | None]:
    """What a parameter stands for in the calls around, and the function in which that is written."""
    function = machine.at.frame.function
    for site in reversed(machine.at.calls):
        argument = argument_for(given, site.node) if isinstance(given, nodes.Name) else None
        if argument is None:
            break
        given, function = argument, site.caller
    return given, function


def argument_for(name: nodes.Name, call: nodes.NodeNG | None) -> nodes.NodeNG | None:
    """What a call gives for a parameter that its function does not set to something else; None for another name."""
    bindings, function = bindings_of(name), name.frame()
    if not isinstance(function, nodes.FunctionDef) or not isinstance(call, nodes.Call):
        return None
    if len(bindings) != 1 or bindings[0].parent is not function.args:
        return None
    for keyword in call.keywords:
        if keyword.arg == name.name:
            return keyword.value
    names = [item.name for item in (*(function.args.posonlyargs or []), *(function.args.args or []))]
    bound = isinstance(function.parent, nodes.ClassDef) and isinstance(call.func, nodes.Attribute)
    place = names.index(name.name) - bound if name.name in names else -1
    found: nodes.NodeNG | None = call.args[place] if 0 <= place < len(call.args) else None
    return found


def is_constant_of_module(name: nodes.Name) -> bool:
    """Whether a name stands for a table that the top level of its module makes, and that nothing changes."""
    bindings = bindings_of(name)
    value = assigned_value(bindings[0]) if len(bindings) == 1 else None
    if value is None or value.statement().parent is not name.root() or not is_made_of_numbers(value, None):
        return False
    use = index_of(name.root()).uses(name.root()).get(name.name)
    return use is None or not (use.methods & MUTATORS or use.filled)


def is_set_once(cls: Class, name: str, *, arrays: bool) -> bool:
    """Whether constructors alone set an attribute of a class to a table, and nothing in the class changes that.

    With `arrays`, for an object that is the same in every turn, to any array of numpy.
    """
    for base in lineage(cls):
        if isinstance(base, Class) and base.frame.index is not None:
            use = base.frame.index.uses(base.node).get(f"self.{name}")
            if use is not None and use.methods & MUTATORS:
                return False
            if any(changes_item(item, name) for item in base.node.nodes_of_class(nodes.Subscript)):
                return False
            if any(fills(call, name) for call in base.node.nodes_of_class(nodes.Call)):
                return False
    places = assigned_on(cls, name)
    return bool(places) and all(
        is_in_constructor(p) and (is_made_of_numbers(value_at(p), cls) or (arrays and is_array(value_at(p), cls)))
        for p in places
    )


def is_array(value: nodes.NodeNG | None, cls: Class, depth: int = DEEPEST) -> bool:
    """Whether an expression in a constructor is an array of numpy, or computed from one."""
    if value is None or depth == 0:
        return False
    if isinstance(value, nodes.BinOp):
        return is_array(value.left, cls, depth - 1) or is_array(value.right, cls, depth - 1)
    if isinstance(value, nodes.IfExp):
        return is_array(value.body, cls, depth - 1) and is_array(value.orelse, cls, depth - 1)
    if isinstance(value, nodes.Call):
        return isinstance(value.func, nodes.Attribute) and (dotted_name(value.func) or "").startswith("numpy.")
    if isinstance(value, nodes.Name):
        values = [assigned_value(b) for b in bindings_of(value) if not isinstance(b.parent, nodes.Arguments)]
        return bool(values) and all(is_array(item, cls, depth - 1) for item in values)
    if isinstance(value, nodes.Attribute) and receiver_of(value) is not None:
        places = assigned_on(cls, value.attrname)
        return bool(places) and all(is_array(value_at(place), cls, depth - 1) for place in places)
    return False


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


def fills(call: nodes.Call, name: str) -> bool:
    """Whether a call is given an attribute to write into: `rng.shuffle(self.order)`, `out=self.sums`."""
    filling = isinstance(call.func, nodes.Attribute) and call.func.attrname in FILLING
    given = [*(call.args[:1] if filling else []), *(word.value for word in call.keywords if word.arg == "out")]
    return any(isinstance(item, nodes.Attribute) and item.attrname == name for item in given)


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
