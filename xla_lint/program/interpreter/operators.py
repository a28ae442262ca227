"""What operators give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.definitions import Function, Method
from xla_lint.program.domain.events import How
from xla_lint.program.domain.join import element_of, join, join_all
from xla_lint.program.domain.values import (
    NONE,
    NUMBER,
    TEXT,
    UNKNOWN,
    Choice,
    Instance,
    Kind,
    Location,
    Number,
    Sequence,
    Tensor,
    Text,
    Trait,
    options,
)
from xla_lint.program.domain.walk import tensors_in
from xla_lint.program.interpreter.arithmetic import ARITHMETIC, KEPT, arithmetic
from xla_lint.program.interpreter.conditions import ask
from xla_lint.program.interpreter.truth import number_of
from xla_lint.program.machine.arguments import Arguments
from xla_lint.program.machine.costs import report_changing
from xla_lint.program.machine.meanings import expression

if TYPE_CHECKING:
    from xla_lint.program.domain.values import Value
    from xla_lint.program.machine.machine import Machine


OPERATORS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
    "<<": "lshift", ">>": "rshift", "&": "and", "|": "or", "^": "xor",
}  # fmt: skip
"""The method of each operator, without underscores."""


LONGEST_DISPLAY = 512
"""Up to this length a repeated list keeps its items apart."""


@expression(nodes.BinOp)
def binary_operation(machine: Machine, node: nodes.BinOp) -> Value:
    return machine.binary(node, node.op, machine.evaluate(node.left), machine.evaluate(node.right))


def binary(machine: Machine, node: nodes.NodeNG, op: str, left: Value, right: Value) -> Value:
    """The result of a binary operator."""
    if isinstance(left, Instance) or isinstance(right, Instance):
        own = own_operator(machine, node, f"__{OPERATORS[op]}__", left, right)
        if own is None:
            own = own_operator(machine, node, f"__r{OPERATORS[op]}__", right, left)
        if own is not None:
            return own
    left, right = (UNKNOWN if isinstance(side, Method) else side for side in (left, right))
    if isinstance(left, (Number, Tensor)) and isinstance(right, (Number, Tensor)):
        return combine_two(machine, node, op, left, right)
    if isinstance(left, Text):
        if op == "%":
            machine.read(node, getattr(node, "right", None), right, How.FORMAT, "%", materialises=False)
        return TEXT
    if isinstance(left, Choice) or isinstance(right, Choice):
        pairs = [(a, b) for a in options(left) for b in options(right) if a is not NONE and b is not NONE]
        return join_all(machine.binary(node, op, a, b) for a, b in pairs[:9])
    if isinstance(left, Sequence) and op in "+*":
        return join_sequences(op, left, right)
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        known = left if isinstance(left, Tensor) else right
        assert isinstance(known, Tensor)
        if known.place is Location.DEVICE:
            return tensor_result(machine, node, op, [known])
        return Tensor(Location.UNKNOWN)
    if op == "%" and left is UNKNOWN and not isinstance(right, (Sequence, Text)):
        return Number(traits=frozenset({Trait.COUNTED}))
    number = left if isinstance(left, Number) else right
    if isinstance(number, Number) and op in ARITHMETIC and UNKNOWN in (left, right):
        result = arithmetic(op, number, NUMBER) if number is left else arithmetic(op, NUMBER, number)
        return result if result.loops or result.traits else UNKNOWN
    return UNKNOWN


def own_operator(machine: Machine, node: nodes.NodeNG, name: str, owner: Value, other: Value) -> Value | None:
    """What an operator gives that a class of the project defines by a method; None where it does not."""
    if not isinstance(owner, Instance) or owner.cls is None or owner.model:
        return None
    method = machine.attribute(owner, name, node)
    return machine.call(method, Arguments(node, [other])) if isinstance(method, Function) else None


def combine_two(machine: Machine, node: nodes.NodeNG, op: str, left: Number | Tensor, right: Number | Tensor) -> Value:
    if isinstance(left, Number) and isinstance(right, Number):
        return arithmetic(op, left, right)
    tensors = [side for side in (left, right) if isinstance(side, Tensor)]
    if op == "**" and isinstance(right, Number) and tensors[0].place is Location.DEVICE:
        report_changing(machine, node, "**", right, shape=False)
    return tensor_result(machine, node, op, tensors)


def tensor_result(machine: Machine, node: nodes.NodeNG, op: str, tensors: list[Tensor]) -> Tensor:
    kinds = {tensor.kind for tensor in tensors}
    kind = Kind.UNKNOWN
    if op in ("&", "|", "^") and Kind.BOOL in kinds:
        kind = Kind.BOOL
    elif op == "//" or (kinds == {Kind.INT} and op in ("+", "-", "*", "%")):
        kind = Kind.INT
    lengths = {tensor.length for tensor in tensors}
    first = tensors[0].length if op != "@" or len(lengths) == 1 else None
    return machine.derived(node, tensors, kind=kind, length=first)


def join_sequences(op: str, left: Sequence, right: Value) -> Value:
    if op == "+" and isinstance(right, Sequence):
        items = [*left.items, *right.items] if left.items is not None and right.items is not None else None
        return Sequence(items, join(element_of(left), element_of(right)), left.frozen)
    times = right.const if isinstance(right, Number) and isinstance(right.const, int) else 0
    if op == "*" and left.items is not None and 0 < times * len(left.items) <= LONGEST_DISPLAY:
        return Sequence(left.items * times, element_of(left), left.frozen)
    return Sequence(None, element_of(left), left.frozen)


@expression(nodes.UnaryOp)
def unary_operation(machine: Machine, node: nodes.UnaryOp) -> Value:
    if node.op == "not":
        return number_of(ask(machine, node.operand).negated())
    value = machine.evaluate(node.operand)
    if isinstance(value, Number):
        if node.op == "-" and value.const is not None:
            return Number(-value.const, value.loops, value.traits)
        return Number(None, value.loops, value.traits & KEPT) if node.op != "+" else value
    tensors = list(tensors_in(value, 0))
    if tensors:
        return machine.derived(node, tensors, kind=tensors[0].kind, length=tensors[0].length)
    return UNKNOWN
