"""What comparisons give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.backend import DEVICE_TYPES, device_types
from xla_lint.program.domain.events import How
from xla_lint.program.domain.join import join_all
from xla_lint.program.domain.locations import device_tensors
from xla_lint.program.domain.ranks import RANK
from xla_lint.program.domain.values import (
    FACT,
    NO_TRAITS,
    NONE,
    NUMBER,
    SHAPE,
    UNKNOWN,
    Choice,
    Instance,
    Kind,
    Name,
    Number,
    Sequence,
    Tensor,
    Text,
    options,
)
from xla_lint.program.domain.walk import tensors_in
from xla_lint.program.interpreter.arithmetic import compare_numbers, one_of
from xla_lint.program.interpreter.operators import own_operator
from xla_lint.program.machine.meanings import expression
from xla_lint.program.syntax.version_tests import COMPARISONS

if TYPE_CHECKING:
    from xla_lint.program.domain.values import Value
    from xla_lint.program.machine.machine import Machine


METHODS = {
    "==": ("__eq__", "__eq__"),
    "!=": ("__ne__", "__ne__"),
    "<": ("__lt__", "__gt__"),
    "<=": ("__le__", "__ge__"),
    ">": ("__gt__", "__lt__"),
    ">=": ("__ge__", "__le__"),
}
"""The method of each comparison on the left side, and on the right one."""


INSTALLED = "importlib.machinery.ModuleSpec"
"""What is found where a package is installed that surely is."""


WAYS_TO_RUN = "accelerate.DistributedType."


DEVICE_NAMES = frozenset({*DEVICE_TYPES, "cpu", "cuda", "gpu", "mps", "xpu", "hpu", "npu"})


HALF = Name("torch.float16")
"""XLA devices compute in bfloat16: a test for float16 is one for GPUs."""


@expression(nodes.Compare)
def comparison(machine: Machine, node: nodes.Compare) -> Value:
    left_node, left = node.left, machine.evaluate(node.left)
    results: list[Value] = []
    for position, (op, right_node) in enumerate(node.ops):
        right = machine.evaluate(right_node)
        result = compare(machine, node, op, left_node, left, right)
        if position < len(node.ops) - 1:
            machine.read(node, None, result, How.BRANCH, "chained comparison")
        results.append(result)
        left_node, left = right_node, right
    if len(results) == 1:
        return results[0]
    return results[-1] if any(isinstance(r, Tensor) for r in results) else NUMBER


def compare(machine: Machine, node: nodes.NodeNG, op: str, left_node: nodes.NodeNG, left: Value, right: Value) -> Value:
    """The result of a comparison."""
    own = own_comparison(machine, node, op, left, right)
    if own is not None:
        return own
    if op in ("is", "is not"):
        if right is NONE and isinstance(left, Choice) and left.ranked:
            return RANK
        known = is_none(left) if right is NONE else None
        installed = isinstance(left, Instance) and left.library == INSTALLED
        return Number(None if known is None else known is (op == "is"), traits=FACT if installed else NO_TRAITS)
    if op in ("==", "!=") and chooses_another(machine, left, right):
        return Number(op == "!=", traits=FACT)
    kinds = kinds_of_run(op, left, right)
    if kinds is not None:
        return kinds
    if op in ("in", "not in"):
        if (
            isinstance(left, Text)
            and isinstance(right, Text)
            and left.const
            and right.const
            and (right.fact or asks_lazy_device(machine, left, right))
        ):
            return Number((left.const in right.const) is (op == "in"), traits=FACT)
        membership(machine, node, left_node, left, right)
        return one_of(op, left, right) if isinstance(left, Number) else NUMBER
    if isinstance(left, Number) and isinstance(right, Number):
        return compare_numbers(op, left, right)
    tensors = [option for side in (left, right) for option in options(side) if isinstance(option, Tensor)]
    if tensors:
        if any(side is NONE or isinstance(side, Text) for side in (left, right)):
            return Number(op == "!=") if op in ("==", "!=") else NUMBER
        return machine.derived(node, tensors, kind=Kind.BOOL, grad=False, length=tensors[0].length)
    if isinstance(left, Sequence) and isinstance(right, Sequence) and (left.frozen or right.frozen):
        machine.read(node, None, Sequence([left, right]), How.BRANCH, "comparison of tuples")
        return NUMBER
    if isinstance(left, Text) and isinstance(right, Text) and left.const is not None and right.const is not None:
        name, asked = (left, right) if type(left_node) is nodes.Const else (right, left)
        told = op in COMPARISONS and (left.fact or right.fact or asks_lazy_device(machine, name, asked))
        return Number(COMPARISONS[op](left.const, right.const), traits=FACT) if told else NUMBER
    if HALF in (left, right) and op in ("==", "!=") and SHAPE in (left, right):
        return Number(op == "!=", traits=FACT)
    if any(isinstance(side, (Text, Choice)) and side.ranked for side in (left, right)):
        return RANK
    sides = [[o for o in options(side) if isinstance(o, Number)] or [NUMBER] for side in (left, right)]
    return join_all(compare_numbers(op, a, b) for a in sides[0] for b in sides[1])


def asks_lazy_device(machine: Machine, name: Text, asked: Text) -> bool:
    """Whether the name of a device is looked for in a text that names the device of the program's own backend."""
    kind = (asked.const or "").partition(":")[0]
    return name.const in DEVICE_NAMES and kind in device_types(machine.backend)


def chooses_another(machine: Machine, left: Value, right: Value) -> bool:
    """Whether something is compared with the text by which programs choose another backend than the one at hand."""
    texts = [side.const for side in (left, right) if isinstance(side, Text)]
    return any(text in machine.aim.passed_by for text in texts) and not (len(texts) == 2 and texts[0] == texts[1])


def kinds_of_run(op: str, left: Value, right: Value) -> Number | None:
    """Whether this is one of the ways to run that Accelerate tells apart; None for other comparisons."""
    listed = right.items or [] if isinstance(right, Sequence) and op in ("in", "not in") else [right]
    names = [value.dotted for value in (left, *listed) if isinstance(value, Name)]
    if len(names) <= len(listed) or not all(name.startswith(WAYS_TO_RUN) for name in names):
        return None
    if op in ("in", "==", "is"):
        return Number(names[0] in names[1:], traits=FACT)
    return Number(names[0] not in names[1:], traits=FACT) if op in ("not in", "!=", "is not") else None


def is_none(value: Value) -> bool | None:
    """Whether a value is None, where that is known."""
    if value is NONE:
        return True
    if value is UNKNOWN:
        return None
    if isinstance(value, Choice):
        return None if NONE in value.options or UNKNOWN in value.options else False
    return False


def own_comparison(machine: Machine, node: nodes.NodeNG, op: str, left: Value, right: Value) -> Value | None:
    if op in ("in", "not in"):
        return None if own_operator(machine, node, "__contains__", right, left) is None else NUMBER
    if op not in METHODS:
        return None
    own, other = METHODS[op]
    result = own_operator(machine, node, own, left, right)
    return own_operator(machine, node, other, right, left) if result is None else result


def membership(machine: Machine, node: nodes.NodeNG, left_node: nodes.NodeNG, left: Value, right: Value) -> None:
    container = [t for option in options(right) if isinstance(option, (Sequence, Tensor)) for t in tensors_in(option)]
    searched = any(isinstance(option, (Sequence, Tensor)) for option in options(right))
    if searched and device_tensors([left]):
        machine.read(node, left_node, left, How.BRANCH, "in")
    elif device_tensors(container) and not isinstance(left, Text):
        machine.read(node, None, right, How.BRANCH, "in")
