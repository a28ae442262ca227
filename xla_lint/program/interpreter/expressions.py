"""What expressions mean: operators, comparisons, subscripts, displays, comprehensions, formatting, truth."""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from astroid import nodes

from xla_lint.program.domain.definitions import Class, Function, Imported, Method
from xla_lint.program.domain.events import Changing, Condition, DataShape, HandPadding, HostChoice, How, RankIndex
from xla_lint.program.domain.join import element_of, join, join_all, may_alias, per_replica
from xla_lint.program.domain.loaders import Loader
from xla_lint.program.domain.loops import Cut, Loop
from xla_lint.program.domain.objects import any_of, differs_between_replicas, is_drawn, key_of, loader_of, note_loaders
from xla_lint.program.domain.ranks import ENVIRONMENT, RANK, environment_value
from xla_lint.program.domain.values import (
    FACT,
    NO_TENSOR,
    NO_TRAITS,
    NONE,
    NUMBER,
    RARE,
    SHAPE,
    TEXT,
    UNKNOWN,
    Choice,
    Instance,
    Kind,
    Location,
    Mapping,
    Name,
    Number,
    Sequence,
    Tensor,
    Text,
    Trait,
    Value,
    options,
)
from xla_lint.program.domain.walk import tensors_in
from xla_lint.program.machine.machine import Arguments, Machine, device_tensors
from xla_lint.program.syntax.imports import is_none_constant
from xla_lint.program.syntax.index import is_choice
from xla_lint.program.syntax.narrowing import Being, Narrowings, narrowed, narrowing
from xla_lint.program.syntax.uses import MODEL_METHODS, path_of, receiver_of

ARITHMETIC: dict[str, Callable[[Any, Any], int | float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "/": operator.truediv,
    "%": operator.mod,
}
OPERATORS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
    "<<": "lshift", ">>": "rshift", "&": "and", "|": "or", "^": "xor",
}  # fmt: skip
"""The method of each operator, without underscores."""
METHODS = {
    "==": ("__eq__", "__eq__"),
    "!=": ("__ne__", "__ne__"),
    "<": ("__lt__", "__gt__"),
    "<=": ("__le__", "__ge__"),
    ">": ("__gt__", "__lt__"),
    ">=": ("__ge__", "__le__"),
}
"""The method of each comparison on the left side, and on the right one."""
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
LARGEST = 2**53
LONGEST_DISPLAY = 512
"""Up to this length a repeated list keeps its items apart."""
MOST_ITEMS = 8
"""Over so many known items a comprehension is run item by item."""
MOST_UNROLLED = 64
"""So often the innermost of comprehensions in each other is run at most."""
HALF = Name("torch.float16")
"""XLA devices compute in bfloat16: a test for float16 is one for GPUs."""
UNSTRUCTURED = frozenset({"torch.nn.Module", "torch.compile", "transformers.PreTrainedModel", "torch.nn.Sequential"})
REFERENCES = (nodes.Name, nodes.Attribute, nodes.Subscript)
"""Expressions that name an object which exists already."""
MODULE_METHODS = MODEL_METHODS | {"forward", "to", "zero_grad", "apply", "generate", "dtype", "name_or_path"}
KEPT = frozenset({Trait.LONGEST, Trait.RANDOM, Trait.RANK, Trait.CLOCK, Trait.DATA})
"""Traits of a number that its sums, multiples and comparisons have too."""


@dataclass(slots=True)
class Truth:
    """What a test tells: which branch runs for sure, and which guards hold in each."""

    known: bool | None = None
    if_true: set[Condition] = field(default_factory=set)
    if_false: set[Condition] = field(default_factory=set)
    narrow_true: Narrowings = field(default_factory=list)
    """What is known of names where the test holds."""
    narrow_false: Narrowings = field(default_factory=list)

    @property
    def ranked(self) -> bool:
        """Whether the answer differs between replicas."""
        return Condition.RANK in self.if_true or Condition.RANK in self.if_false

    def negated(self) -> Truth:
        """The truth of `not test`."""
        known = None if self.known is None else not self.known
        return Truth(known, self.if_false, self.if_true, self.narrow_false, self.narrow_true)


class Expressions(Machine):
    """Evaluation of expressions."""

    _unrolled = 1
    """How often what is evaluated is run by the comprehensions around it."""

    def evaluate(self, node: nodes.NodeNG) -> Value:
        handler = _HANDLERS.get(type(node))
        return handler(self, node) if handler is not None else self._children(node)

    def _children(self, node: nodes.NodeNG) -> Value:
        for child in node.get_children():
            self.evaluate(child)
        return UNKNOWN

    def quietly(self, node: nodes.NodeNG) -> Value:
        """The value of an expression, without its events."""
        events, self.events = self.events, []
        try:
            return self.evaluate(node)
        finally:
            self.events = events

    # Names and constants.

    def _const(self, node: nodes.Const) -> Value:
        value = node.value
        if value is None:
            return NONE
        if isinstance(value, str):
            return Text(value)
        if isinstance(value, (bool, int, float)):
            return Number(value)
        return UNKNOWN

    def _name(self, node: nodes.Name) -> Value:
        return self.lookup(node.name)

    def lookup(self, name: str) -> Value:
        """What a name stands for here."""
        env, frame = self.here.env, self.frame
        if name in env and name not in frame.outside:
            return self.known(env, name)
        outer = frame.outside.get(name, frame.outer)
        while outer is not None:
            if name in outer.env:
                return self.known(outer.env, name)
            outer = outer.outer
        return Name("builtins." + name) if name in BUILTINS else UNKNOWN

    def known(self, env: dict[str, Value], name: str) -> Value:
        """A variable's value; what was imported from the project is looked up now."""
        value = env[name]
        if isinstance(value, Imported):
            value = env[name] = self.find_imported(value)
        return value

    def rebind(self, target: nodes.NodeNG | None, old: Value, new: Value) -> None:
        """Let a name that holds a value hold another one."""
        if isinstance(target, nodes.Name) and self.here.env.get(target.name) is old:
            self.here.env[target.name] = new

    @abstractmethod
    def find_imported(self, value: Imported) -> Value:
        """What an import of the project's own stands for."""

    def _attribute(self, node: nodes.Attribute) -> Value:
        value = self.attribute(self.evaluate(node.expr), node.attrname, node)
        if value is UNKNOWN:
            return self.by_use(node)
        if isinstance(value, Method) and isinstance(value.receiver, Instance) and value.receiver.model:
            return part_of(value.receiver, value)
        return value

    def by_use(self, node: nodes.NodeNG) -> Value:
        """What an unknown name or attribute of `self` must be, from how the code around uses it."""
        if not self.assume_device:
            return UNKNOWN
        path = node.name if isinstance(node, nodes.AssignName) else path_of(node, receiver_of(node))
        if path is None:
            return UNKNOWN
        scope = self.frame.owner.node if path.startswith("self.") and self.frame.owner else self.frame.node
        if scope is None:
            return UNKNOWN
        use = self.uses(scope).get(path)
        if use is None:
            return UNKNOWN
        if use.is_loss:
            return self.tensor(node, Location.DEVICE, grad=True, certain=False)
        if use.is_optimizer:
            return self._kept(path, node, Instance(None, "torch.optim.Optimizer", place=Location.DEVICE, certain=False))
        if use.is_model:
            return self._kept(
                path, node, Instance(None, "torch.nn.Module", place=Location.DEVICE, model=True, certain=False)
            )
        return UNKNOWN

    def _kept(self, path: str, node: nodes.NodeNG, value: Instance) -> Instance:
        """The same object for an attribute of `self` wherever it is used."""
        receiver = receiver_of(node) if path.startswith("self.") else None
        owner = self.lookup(receiver) if receiver is not None else UNKNOWN
        if isinstance(owner, Instance):
            self.heap.put(owner.attributes, path.removeprefix("self."), value)
        return value

    def _named(self, node: nodes.NamedExpr) -> Value:
        value = self.evaluate(node.value)
        self.bind(node.target, value)
        return value

    # Operators.

    def _binary(self, node: nodes.BinOp) -> Value:
        return self.binary(node, node.op, self.evaluate(node.left), self.evaluate(node.right))

    def binary(self, node: nodes.NodeNG, op: str, left: Value, right: Value) -> Value:
        """The result of a binary operator."""
        own = self.own_operator(node, f"__{OPERATORS[op]}__", left, right)
        if own is None:
            own = self.own_operator(node, f"__r{OPERATORS[op]}__", right, left)
        if own is not None:
            return own
        if isinstance(left, (Number, Tensor)) and isinstance(right, (Number, Tensor)):
            return self._binary_simple(node, op, left, right)
        if isinstance(left, Text):
            if op == "%":
                self.read(node, getattr(node, "right", None), right, How.FORMAT, "%", materialises=False)
            return TEXT
        if isinstance(left, Choice) or isinstance(right, Choice):
            pairs = [(a, b) for a in options(left) for b in options(right) if a is not NONE and b is not NONE]
            return join_all(self.binary(node, op, a, b) for a, b in pairs[:9])
        if isinstance(left, Sequence) and op in "+*":
            return self._join_sequences(op, left, right)
        if isinstance(left, Tensor) or isinstance(right, Tensor):
            known = left if isinstance(left, Tensor) else right
            assert isinstance(known, Tensor)
            if known.place is Location.DEVICE:
                return self._tensor_result(node, op, [known])
            return Tensor(Location.UNKNOWN)
        if op == "%" and (left is UNKNOWN or isinstance(left, Method)) and not isinstance(right, (Sequence, Text)):
            return Number(traits=frozenset({Trait.COUNTED}))
        number = left if isinstance(left, Number) else right
        if isinstance(number, Number) and op in ARITHMETIC and UNKNOWN in (left, right):
            result = arithmetic(op, number, NUMBER) if number is left else arithmetic(op, NUMBER, number)
            return result if result.loops or result.traits else UNKNOWN
        return UNKNOWN

    def own_operator(self, node: nodes.NodeNG, name: str, owner: Value, other: Value) -> Value | None:
        """What an operator gives that a class of the project defines by a method; None where it does not."""
        if not isinstance(owner, Instance) or owner.cls is None or owner.model:
            return None
        method = self.attribute(owner, name, node)
        return self.call(method, Arguments(node, [other])) if isinstance(method, Function) else None

    def _binary_simple(self, node: nodes.NodeNG, op: str, left: Number | Tensor, right: Number | Tensor) -> Value:
        if isinstance(left, Number) and isinstance(right, Number):
            return arithmetic(op, left, right)
        tensors = [side for side in (left, right) if isinstance(side, Tensor)]
        if op == "**" and isinstance(right, Number) and tensors[0].place is Location.DEVICE:
            self.changing(node, "**", right, shape=False)
        return self._tensor_result(node, op, tensors)

    def _tensor_result(self, node: nodes.NodeNG, op: str, tensors: list[Tensor]) -> Tensor:
        kinds = {tensor.kind for tensor in tensors}
        kind = Kind.UNKNOWN
        if op in ("&", "|", "^") and Kind.BOOL in kinds:
            kind = Kind.BOOL
        elif op == "//" or (kinds == {Kind.INT} and op in ("+", "-", "*", "%")):
            kind = Kind.INT
        lengths = {tensor.length for tensor in tensors}
        first = tensors[0].length if op != "@" or len(lengths) == 1 else None
        return self.derived(node, tensors, kind=kind, length=first)

    def _join_sequences(self, op: str, left: Sequence, right: Value) -> Value:
        if op == "+" and isinstance(right, Sequence):
            items = [*left.items, *right.items] if left.items is not None and right.items is not None else None
            return Sequence(items, join(element_of(left), element_of(right)), left.frozen)
        times = right.const if isinstance(right, Number) and isinstance(right.const, int) else 0
        if op == "*" and left.items is not None and 0 < times * len(left.items) <= LONGEST_DISPLAY:
            return Sequence(left.items * times, element_of(left), left.frozen)
        return Sequence(None, element_of(left), left.frozen)

    def _unary(self, node: nodes.UnaryOp) -> Value:
        if node.op == "not":
            return number_of(self.truth(node.operand).negated())
        value = self.evaluate(node.operand)
        if isinstance(value, Number):
            if node.op == "-" and value.const is not None:
                return Number(-value.const, value.loops, value.traits)
            return Number(None, value.loops, value.traits & KEPT) if node.op != "+" else value
        tensors = list(tensors_in(value, 0))
        if tensors:
            return self.derived(node, tensors, kind=tensors[0].kind, length=tensors[0].length)
        return UNKNOWN

    def _boolean(self, node: nodes.BoolOp) -> Value:
        values: list[Value] = []
        truths: list[Truth] = []
        entry, path_condition = self.here, self.here.path_condition
        for operand in node.values[:-1]:
            truth, value = self._truth_and_value(operand)
            truths.append(truth)
            values.append(value)
            self._go_on(node.op, truth)
        values.append(self.evaluate(node.values[-1]))
        self.state = entry
        entry.path_condition = path_condition
        if all(isinstance(value, Number) for value in values):
            last = truth_of_number(values[-1]) if isinstance(values[-1], Number) else Truth()
            deciding = node.op == "or"
            if any(isinstance(v, Number) and v.const is deciding and Trait.FACT in v.traits for v in values):
                return Number(deciding, traits=FACT)
            return number_of(combine(node.op, [*truths, last]))
        return join_all(values)

    def _compare(self, node: nodes.Compare) -> Value:
        left_node, left = node.left, self.evaluate(node.left)
        results: list[Value] = []
        for position, (op, right_node) in enumerate(node.ops):
            right = self.evaluate(right_node)
            result = self.compare(node, op, left_node, left, right)
            if position < len(node.ops) - 1:
                self.read(node, None, result, How.BRANCH, "chained comparison")
            results.append(result)
            left_node, left = right_node, right
        if len(results) == 1:
            return results[0]
        return results[-1] if any(isinstance(r, Tensor) for r in results) else NUMBER

    def compare(self, node: nodes.NodeNG, op: str, left_node: nodes.NodeNG, left: Value, right: Value) -> Value:
        """The result of a comparison."""
        own = self._own_comparison(node, op, left, right)
        if own is not None:
            return own
        if op in ("is", "is not"):
            if right is NONE and isinstance(left, Choice) and left.ranked:
                return RANK
            known = is_none(left) if right is NONE else None
            return Number(None if known is None else known is (op == "is"))
        if op in ("in", "not in"):
            if isinstance(left, Text) and isinstance(right, Text) and left.const and right.const and right.fact:
                return Number((left.const in right.const) is (op == "in"), traits=FACT)
            self._membership(node, left_node, left, right)
            return one_of(op, left, right) if isinstance(left, Number) else NUMBER
        if isinstance(left, Number) and isinstance(right, Number):
            return compare_numbers(op, left, right)
        tensors = [option for side in (left, right) for option in options(side) if isinstance(option, Tensor)]
        if tensors:
            if any(side is NONE or isinstance(side, Text) for side in (left, right)):
                return Number(op == "!=") if op in ("==", "!=") else NUMBER
            return self.derived(node, tensors, kind=Kind.BOOL, grad=False, length=tensors[0].length)
        if isinstance(left, Sequence) and isinstance(right, Sequence) and (left.frozen or right.frozen):
            self.read(node, None, Sequence([left, right]), How.BRANCH, "comparison of tuples")
            return NUMBER
        if isinstance(left, Text) and isinstance(right, Text) and left.const is not None and right.const is not None:
            const = COMPARISONS[op](left.const, right.const) if op in COMPARISONS else None
            return Number(const, traits=FACT if left.fact or right.fact else NO_TRAITS)
        if HALF in (left, right) and op in ("==", "!=") and SHAPE in (left, right):
            return Number(op == "!=", traits=FACT)
        sides = [[o for o in options(side) if isinstance(o, Number)] or [NUMBER] for side in (left, right)]
        return join_all(compare_numbers(op, a, b) for a in sides[0] for b in sides[1])

    def _own_comparison(self, node: nodes.NodeNG, op: str, left: Value, right: Value) -> Value | None:
        if op in ("in", "not in"):
            return None if self.own_operator(node, "__contains__", right, left) is None else NUMBER
        if op not in METHODS:
            return None
        own, other = METHODS[op]
        result = self.own_operator(node, own, left, right)
        return self.own_operator(node, other, right, left) if result is None else result

    def _membership(self, node: nodes.NodeNG, left_node: nodes.NodeNG, left: Value, right: Value) -> None:
        container = [
            t for option in options(right) if isinstance(option, (Sequence, Tensor)) for t in tensors_in(option)
        ]
        searched = any(isinstance(option, (Sequence, Tensor)) for option in options(right))
        if searched and device_tensors([left]):
            self.read(node, left_node, left, How.BRANCH, "in")
        elif device_tensors(container) and not isinstance(left, Text):
            self.read(node, None, right, How.BRANCH, "in")

    # Truth.

    def truth(self, node: nodes.NodeNG) -> Truth:
        """Ask whether an expression holds: the host reads the value of a tensor to know."""
        return self._truth_and_value(node)[0]

    def _truth_and_value(self, node: nodes.NodeNG) -> tuple[Truth, Value]:
        if isinstance(node, nodes.UnaryOp) and node.op == "not":
            truth, _ = self._truth_and_value(node.operand)
            return truth.negated(), number_of(truth.negated())
        if isinstance(node, nodes.BoolOp):
            return self._truth_of_boolean(node)
        value = self.evaluate(node)
        truth = self._truth_of_value(node, value)
        truth.narrow_true, truth.narrow_false = narrowing(node)
        if isinstance(node, nodes.Compare) and truth.known is not None and not is_structural(node, value):
            truth.known = None
        asked = self.asks_for_xla(node)
        if asked is not None:
            truth.known = asked
        if truth.known is None and is_setting(node, value):
            truth.if_true.add(Condition.SETTING)
            truth.if_false.add(Condition.SETTING)
        return truth, value

    def asks_for_xla(self, node: nodes.NodeNG) -> bool | None:
        """What a flag for running on XLA, as the tests of it in this module show, answers; None for another test."""
        flags = self.frame.index.flags if self.frame.index is not None else ()
        if not flags:
            return None
        if isinstance(node, (nodes.Name, nodes.Attribute)):
            return True if node.as_string() in flags else None
        if not is_choice(node):
            return None
        text = node.as_string()
        opposite = text.replace(" != ", " == ") if " != " in text else text.replace(" == ", " != ")
        return True if text in flags else False if opposite in flags else None

    def _truth_of_boolean(self, node: nodes.BoolOp) -> tuple[Truth, Value]:
        truths: list[Truth] = []
        values: list[Value] = []
        before = self.here
        env, path_condition = before.env, before.path_condition
        before.env = dict(env)
        for operand in node.values:
            truth, value = self._truth_and_value(operand)
            truths.append(truth)
            values.append(value)
            self._go_on(node.op, truth)
            if truth.known is (node.op == "or"):
                break
        for name in before.env.keys() - env.keys():
            env[name] = before.env[name]
        before.env, before.path_condition = env, path_condition
        return combine(node.op, truths), join_all(values)

    def _go_on(self, op: str, truth: Truth) -> None:
        """Let what an operand of `and` or `or` told hold for the operands after it."""
        self._narrow(truth.narrow_true if op == "and" else truth.narrow_false)
        self.assume(truth.if_true if op == "and" else truth.if_false)

    def _truth_of_value(self, node: nodes.NodeNG, value: Value) -> Truth:
        if isinstance(value, Number):
            truth = truth_of_number(value)
            if not isinstance(node, (nodes.Compare, nodes.Call, nodes.Const)) and Trait.FACT not in value.traits:
                truth.known = None
            return truth
        if value is NONE:
            return Truth(False)
        if isinstance(value, (Tensor, Choice)):
            differs = False
            for option in options(value):
                if isinstance(option, Tensor) and self.read(node, None, option, How.BRANCH, "truth"):
                    differs |= not option.shared
            if differs:
                return Truth(None, {Condition.DATA}, {Condition.DATA})
            if is_drawn(value):
                return Truth(None, {Condition.RANDOM}, {Condition.RANDOM})
            if isinstance(value, Choice) and value.ranked:
                return Truth(None, {Condition.RANK}, {Condition.RANK})
            numbers = [option for option in options(value) if isinstance(option, Number)]
            return truth_of_number(join_all(numbers)) if numbers and len(numbers) == len(options(value)) else Truth()
        if isinstance(value, (Function, Class, Loader)):
            return Truth(True)
        if isinstance(value, Instance):
            return self._truth_of_instance(node, value)
        if isinstance(value, Text) and isinstance(node, nodes.Const):
            return Truth(bool(value.const))
        return Truth()

    def _truth_of_instance(self, node: nodes.NodeNG, value: Instance) -> Truth:
        method = self.attribute(value, "__bool__", node) if value.cls is not None else UNKNOWN
        if isinstance(method, Function):
            self.call(method, Arguments(node, []))
            return Truth()
        return Truth(True if value.model or not value.cls else None)

    def _narrow(self, index: Narrowings) -> None:
        for node, being in index:
            if isinstance(node, nodes.Name) and self.state is not None:
                value = self.state.env.get(node.name)
                if value is not None:
                    self.state.env[node.name] = narrowed(value, being)

    def narrow(self, index: Narrowings) -> None:
        """Let something be known of names from here on."""
        self._narrow(index)

    def _ternary(self, node: nodes.IfExp) -> Value:
        truth = self.truth(node.test)
        results: list[Value] = []
        before = self.here
        path_condition = before.path_condition
        operations = self.operations
        for branch, when, conditions, index in (
            (node.body, True, truth.if_true, truth.narrow_true),
            (node.orelse, False, truth.if_false, truth.narrow_false),
        ):
            if truth.known is (not when):
                continue
            self.state = before.fork()
            self.assume(conditions)
            self.narrow(index)
            results.append(NO_TENSOR if is_no_tensor(branch, index) else self.evaluate(branch))
            before.merge_course(self.here)
        before.path_condition = path_condition
        self.state = before
        if Condition.RANDOM in truth.if_true and self.operations > operations:
            self.emit(HostChoice(node.test, self.context, "conditional expression"))
        named = isinstance(node.body, REFERENCES) and isinstance(node.orelse, REFERENCES)
        result = may_alias(results) if named else join_all(results)
        return per_replica(result) if truth.ranked else result

    # Subscripts.

    def _subscript(self, node: nodes.Subscript) -> Value:
        if isinstance(node.value, nodes.Attribute) and node.value.attrname == "shape":
            owner = self.evaluate(node.value.expr)
            if isinstance(owner, Tensor) and isinstance(node.slice, nodes.Const) and node.slice.value == 0:
                return Number(owner.length, traits=frozenset({Trait.SHAPE}))
            value = self.attribute(owner, "shape", node.value)
        else:
            value = self.evaluate(node.value)
        if isinstance(node.slice, nodes.Slice):
            index: Value = self._slice(node.slice)
        else:
            index = self.evaluate(node.slice)
        if any(differs_between_replicas(part) for part in (index.parts if isinstance(index, Slice) else [index])):
            self.emit(RankIndex(node, self.context))
        results = [self.subscript(node, option, index, node.slice) for option in options(value) if option is not NONE]
        return join_all(results)

    def _slice(self, node: nodes.Slice) -> Value:
        parts = [self.evaluate(part) if part is not None else NONE for part in (node.lower, node.upper, node.step)]
        return Slice(parts)

    def subscript(self, node: nodes.NodeNG, value: Value, index: Value, index_node: nodes.NodeNG) -> Value:
        """The result of `value[index]`."""
        if isinstance(value, Tensor):
            return self._index_tensor(node, value, index, index_node)
        if isinstance(value, (Sequence, Text)):
            self.read(node, index_node, index, How.VALUE, "list index")
        if isinstance(value, Sequence):
            return moved_with(index_sequence(value, index), index)
        if isinstance(value, Mapping):
            return self._entry(node, value, key_of(index))
        if isinstance(value, Instance) and value.model:
            numbered = value.attributes.get(str(index.const)) if isinstance(index, Number) else None
            inside = numbered or value.attributes.get("*")
            return inside if inside is not None else value
        if isinstance(value, Instance) and value.cls is not None:
            method = self.attribute(value, "__getitem__", node)
            return self.call(method, Arguments(node, [index])) if isinstance(method, Function) else UNKNOWN
        if isinstance(value, Instance) and value.library.startswith("datasets.") and isinstance(index, Text):
            return Instance(None, value.library, node=value.node)
        if isinstance(value, Text):
            return TEXT
        if isinstance(value, Name) and value.dotted == ENVIRONMENT:
            return environment_value(index)
        return UNKNOWN

    def _index_tensor(self, node: nodes.NodeNG, value: Tensor, index: Value, index_node: nodes.NodeNG) -> Value:
        if value.unstructured and isinstance(index, Text):
            return value.like(length=None)
        if value.place is Location.DEVICE:
            self.report_index(node, index, index_node)
        length = value.length
        first = index.items[0] if isinstance(index, Sequence) and index.items else index
        if isinstance(first, Slice):
            length = sliced_length(length, first)
        elif first is not NONE:
            length = None
        if first is NONE:
            length = 1
        return self.derived(node, [value], kind=value.kind, length=length, grad=value.grad and self.here.grad)

    def report_index(self, node: nodes.NodeNG, index: Value, index_node: nodes.NodeNG) -> None:
        """Report what an index of a device tensor costs."""
        parts = index.items if isinstance(index, Sequence) and index.frozen and index.items is not None else [index]
        part_nodes = index_node.elts if isinstance(index_node, nodes.Tuple) else [index_node]
        if len(part_nodes) != len(parts):
            part_nodes = [index_node] * len(parts)
        for part, part_node in zip(parts, part_nodes, strict=True):
            if isinstance(part, Number):
                self.changing(node, f"[{part_node.as_string()}]", part, shape=False)
            elif isinstance(part, Slice):
                self._slice_of_tensor(node, part, part_node)
            elif device_tensors(o for o in options(part) if isinstance(o, Tensor) and o.kind is Kind.BOOL):
                self.emit(DataShape(node, self.context, f"[{part_node.as_string()}]"))

    def _slice_of_tensor(self, node: nodes.NodeNG, part: Slice, part_node: Any) -> None:
        lower, upper, _ = part.parts
        moving = [end for end in (lower, upper) if isinstance(end, Number) and end.loops]
        for end in (lower, upper):
            if device_tensors([end]):
                self.read(node, part_node, end, How.VALUE, "slice")
        if len(moving) == 2:
            self.changing(node, f"[{part_node.as_string()}]", moving[0], shape=False)
        elif moving:
            self.changing(node, f"[{part_node.as_string()}]", moving[0], shape=True)

    def padding(self, node: nodes.NodeNG, spelled: str, value: Value) -> bool:
        """Report a size that is the greatest length of several rows."""
        numbers = [n for o in options(value) for n in (o.items or [o.element] if isinstance(o, Sequence) else [o])]
        found = any(isinstance(number, Number) and Trait.LONGEST in number.traits for number in numbers)
        if found:
            self.emit(HandPadding(node, self.context, spelled))
        return found

    def changing(self, node: nodes.NodeNG, spelled: str, value: Value, *, shape: bool) -> bool:
        """Report a number that changes from step to step and is built into the graph."""
        for option in options(value):
            numbers: list[Value] = [option]
            if isinstance(option, Sequence):
                numbers = list(option.items or [option.element])
            for number in numbers:
                if isinstance(number, Number) and number.loops:
                    self.emit(Changing(node, self.context, spelled, number, shape))
                    return True
        return False

    # Displays, comprehensions, formatting.

    def _elements(self, elements: list[Any]) -> tuple[list[Value] | None, Value]:
        items: list[Value] | None = []
        unstructured: list[Value] = []
        for element in elements:
            if isinstance(element, nodes.Starred):
                inner = self.evaluate(element.value)
                if isinstance(inner, Sequence) and inner.items is not None and items is not None:
                    items.extend(inner.items)
                else:
                    items = None
                unstructured.append(self.iterate(inner, None, element))
            else:
                value = self.evaluate(element)
                unstructured.append(value)
                if items is not None:
                    items.append(value)
        return items, join_all(unstructured)

    def _list(self, node: nodes.List | nodes.Set) -> Value:
        items, element = self._elements(node.elts)
        return Sequence(items, element)

    def _tuple(self, node: nodes.Tuple) -> Value:
        items: list[Any] = node.elts
        if any(isinstance(item, nodes.Slice) for item in items):
            parts = [self._slice(i) if isinstance(i, nodes.Slice) else self.evaluate(i) for i in items]
            return Sequence(parts, UNKNOWN, True)
        known, element = self._elements(items)
        return Sequence(known, element, True)

    def _entry(self, node: nodes.NodeNG, value: Mapping, key: str | None) -> Value:
        if key is not None and key in value.entries:
            return value.entries[key]
        if value.factory is not None and key is not None:
            made = self.call(value.factory, Arguments(node, []))
            self.heap.put(value.entries, key, made)
            return made
        if value.element is not None and value.factory is None:
            return any_of([value.element])
        if value.element is None and (not value.entries or key is not None):
            return UNKNOWN
        others = [] if value.element is None else [value.element]
        return self.heap.summary(value, lambda: any_of([*value.entries.values(), *others]))

    def _dict(self, node: nodes.Dict) -> Value:
        entries: dict[str, Value] = {}
        others: list[Value] = []
        pairs: list[tuple[Any, Any]] = list(node.items)
        for key_node, value_node in pairs:
            if isinstance(key_node, nodes.DictUnpack):
                inner = self.evaluate(value_node)
                if isinstance(inner, Mapping):
                    entries.update(inner.entries)
                    others.extend([] if inner.element is None else [inner.element])
                else:
                    others.append(UNKNOWN)
                continue
            key, value = key_of(self.evaluate(key_node)), self.evaluate(value_node)
            if key is not None:
                entries[key] = value
            else:
                others.append(value)
        return Mapping(entries, join_all(others) if others else None)

    def _comprehension(self, node: nodes.ListComp | nodes.SetComp | nodes.GeneratorExp) -> Value:
        with_items: list[Value] = []

        def element() -> None:
            with_items.append(self.evaluate(node.elt))

        exact = self._generators(node.generators, element)
        items = with_items if exact and len(with_items) > 0 else None
        return Sequence(items, join_all(with_items))

    def _dict_comprehension(self, node: nodes.DictComp) -> Value:
        entries: dict[str, Value] = {}
        others: list[Value] = []

        def element() -> None:
            key, value = key_of(self.evaluate(node.key)), self.evaluate(node.value)
            if key is not None:
                entries[key] = value
            else:
                others.append(value)

        self._generators(node.generators, element)
        return Mapping(entries, join_all(others) if others else None)

    def _generators(self, generators: list[nodes.Comprehension], element: Callable[[], None]) -> bool:
        """Run a comprehension's clauses around its element; True where its elements are exactly those seen."""
        env = self.here.env
        self.here.env = dict(env)
        path_condition = self.here.path_condition
        exact = False
        try:
            exact = self._clause(generators, 0, element)
        finally:
            if self.state is not None:
                self.state.env = env
                self.state.path_condition = path_condition
        return exact

    def _clause(self, generators: list[nodes.Comprehension], position: int, element: Callable[[], None]) -> bool:
        if position == len(generators):
            element()
            return True
        clause = generators[position]
        source = self.evaluate(clause.iter)
        items = source.items if isinstance(source, Sequence) and len(generators) == 1 and not clause.ifs else None
        unrolled = self._unrolled * len(items or ())
        few = items is not None and 0 < len(items) <= MOST_ITEMS and unrolled <= MOST_UNROLLED
        if items and few and not any(isinstance(item, Tensor) for item in items):
            self._unrolled, around = unrolled, self._unrolled
            try:
                for item in items:
                    self.bind(clause.target, item)
                    element()
            finally:
                self._unrolled = around
            return True
        if loader_of(source) is not None:
            with self._turn(clause.parent or clause, source) as loop:
                self._inside_clause(generators, position, element, self.iterate(source, loop, clause.iter))
            return False
        exact = self._inside_clause(generators, position, element, self.iterate(source, None, clause.iter))
        return exact and isinstance(source, Sequence) and source.items is not None and len(source.items) == 1

    def _inside_clause(
        self, generators: list[nodes.Comprehension], position: int, element: Callable[[], None], item: Value
    ) -> bool:
        self.bind(generators[position].target, item)
        for test in generators[position].ifs:
            truth = self.truth(test)
            self.assume(truth.if_true)
            self.narrow(truth.narrow_true)
        return self._clause(generators, position + 1, element)

    @contextmanager
    def _turn(self, comprehension: nodes.NodeNG, loader: Value) -> Iterator[Loop]:
        """Stand inside the loop that a comprehension over a loader is."""
        loop = self.loop_of(comprehension)
        note_loaders(loop, loader)
        loop.turn += 1
        outer, self.here.cut = self.here.cut, Cut.NEVER
        with self.inside(loop):
            yield loop
        if self.state is not None:
            loop.cut = self.here.cut
            self.here.cut = max(outer, loop.cut)

    def _joined(self, node: nodes.JoinedStr) -> Value:
        ranked = False
        for part in node.values:
            if isinstance(part, nodes.FormattedValue):
                value = self.evaluate(part.value)
                if part.format_spec is not None:
                    self.evaluate(part.format_spec)
                self.read(node, part.value, value, How.FORMAT, "f-string")
                ranked |= isinstance(value, Number) and Trait.RANK in value.traits
        return Text(ranked=True) if ranked else TEXT

    def _lambda(self, node: nodes.Lambda) -> Value:
        self.suspend()
        return Function(node, self.frame, defaults=self.defaults_of(node))

    def suspend(self) -> None:
        """Let other frames see this frame's variables as they are now."""
        if self.state is not None:
            self.frame.env = self.state.env

    def defaults_of(self, node: nodes.FunctionDef | nodes.Lambda) -> dict[str, Value]:
        """The values of a function's parameter defaults, by parameter."""
        arguments = node.args
        found: dict[str, Value] = {}
        positional = [*(arguments.posonlyargs or []), *(arguments.args or [])]
        given = arguments.defaults or []
        for parameter, default in zip(positional[len(positional) - len(given) :], given, strict=False):
            found[parameter.name] = self.evaluate(default)
        for parameter, given_default in zip(arguments.kwonlyargs or [], arguments.kw_defaults or [], strict=False):
            if given_default is not None:
                found[parameter.name] = self.evaluate(given_default)
        return found

    def _await(self, node: nodes.Await) -> Value:
        return self.evaluate(node.value)

    def _yield(self, node: nodes.Yield) -> Value:
        value: Value = self.evaluate(node.value) if node.value is not None else NONE
        self.frame.yields.append((value, self.here.epochs))
        self._feed()
        if self.frame.on_yield is not None:
            self.frame.on_yield(value)
        elif self.without_caller:
            self.opaque()
        return UNKNOWN

    def _yield_from(self, node: nodes.YieldFrom) -> Value:
        source = self.evaluate(node.value) if node.value is not None else UNKNOWN
        self._feed()
        item = self.iterate(source, self.loop if self.frame.consumer is not None else None, node)
        self.frame.yields.append((item, self.here.epochs))
        return UNKNOWN

    def _feed(self) -> None:
        """Note that each turn of the loops of this generator gives its consumer an item."""
        consumer = self.frame.consumer
        if consumer is not None and consumer in self.loops:
            for loop in self.loops[self.loops.index(consumer) + 1 :]:
                loop.feeds = consumer
                if loop not in consumer.fed_by:
                    consumer.fed_by.append(loop)
                consumer.loader = consumer.loader or loop.loader

    def _stated(self, call: nodes.Call, argument: nodes.NodeNG, slot: int | str | None) -> Value:
        """An argument. A constant decides tests in what is called where other calls give another one.

        Where all calls give the same, it is a setting.
        """
        value = self.evaluate(argument)
        index = self.frame.index
        if index is None or not isinstance(argument, nodes.Const) or not index.told_apart(call, slot):
            return value
        return replace(value, fact=True) if isinstance(value, Text) else Number(argument.value, traits=FACT)

    def _starred(self, node: nodes.Starred) -> Value:
        return self.evaluate(node.value)

    def _call(self, node: nodes.Call) -> Value:
        callee = self.evaluate_callee(node.func)
        return self.call(callee, self.arguments(node))

    def evaluate_callee(self, node: nodes.NodeNG) -> Value:
        """The value that is called: a method stays tied to its receiver."""
        return self.evaluate(node)

    def arguments(self, node: nodes.Call) -> Arguments:
        """Evaluate a call's arguments."""
        positional: list[Value] = []
        unpacked = False
        for argument in node.args:
            if isinstance(argument, nodes.Starred):
                inner = self.evaluate(argument.value)
                if isinstance(inner, Sequence) and inner.items is not None:
                    positional.extend(inner.items)
                else:
                    unpacked = True
                    element = self.iterate(inner, None, argument)
                    if isinstance(inner, (Sequence, Tensor)):
                        positional.append(element)
            else:
                positional.append(self._stated(node, argument, len(positional)))
        keywords: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self._stated(node, keyword.value, keyword.arg)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
            elif isinstance(value, Mapping) and value.element is None:
                keywords.update(value.entries)
            else:
                unpacked = True
                if isinstance(value, Mapping):
                    keywords.update(value.entries)
                if tensors := list(tensors_in(value)):
                    keywords.setdefault("**", tensors[0])
        return Arguments(node, positional, keywords, unpacked)


class Slice(Value):
    """A slice that is used as an index."""

    __slots__ = ("parts",)

    def __init__(self, parts: list[Value]) -> None:
        self.parts = parts


BUILTINS = frozenset(dir(__builtins__) if not isinstance(__builtins__, dict) else __builtins__)

_HANDLERS: dict[type[nodes.NodeNG], Callable[[Any, Any], Value]] = {
    nodes.Const: Expressions._const,
    nodes.Name: Expressions._name,
    nodes.Attribute: Expressions._attribute,
    nodes.NamedExpr: Expressions._named,
    nodes.BinOp: Expressions._binary,
    nodes.UnaryOp: Expressions._unary,
    nodes.BoolOp: Expressions._boolean,
    nodes.Compare: Expressions._compare,
    nodes.IfExp: Expressions._ternary,
    nodes.Subscript: Expressions._subscript,
    nodes.Slice: Expressions._slice,
    nodes.List: Expressions._list,
    nodes.Set: Expressions._list,
    nodes.Tuple: Expressions._tuple,
    nodes.Dict: Expressions._dict,
    nodes.ListComp: Expressions._comprehension,
    nodes.SetComp: Expressions._comprehension,
    nodes.GeneratorExp: Expressions._comprehension,
    nodes.DictComp: Expressions._dict_comprehension,
    nodes.JoinedStr: Expressions._joined,
    nodes.Lambda: Expressions._lambda,
    nodes.Await: Expressions._await,
    nodes.Yield: Expressions._yield,
    nodes.YieldFrom: Expressions._yield_from,
    nodes.Starred: Expressions._starred,
    nodes.Call: Expressions._call,
}


def arithmetic(op: str, left: Number, right: Number) -> Number:
    """The result of an operator on two numbers."""
    loops = left.loops | right.loops
    traits = (left.traits | right.traits) & KEPT
    if op == "%" and None in (left.const, right.const):
        traits |= {Trait.COUNTED}
    return Number(None if loops else folded(op, left.const, right.const), loops, traits)


def folded(op: str, left: float | None, right: float | None) -> float | None:
    """The result of an operator on two constants, None where it is unknown, undefined or too large to matter."""
    if left is None or right is None or op not in ARITHMETIC or max(abs(left), abs(right)) > LARGEST:
        return None
    return ARITHMETIC[op](left, right) if right or op in ("+", "-", "*") else None


def compare_numbers(op: str, left: Number, right: Number) -> Number:
    """The result of a comparison of two numbers. No rank is negative: such a test is the same on all replicas."""
    traits = (left.traits | right.traits) & KEPT
    if any(side.const is not None and side.const < 0 for side in (left, right)):
        traits -= {Trait.RANK}
    if Trait.CLOCK in traits:
        return RARE
    counted = Trait.COUNTED in left.traits or Trait.COUNTED in right.traits
    moving = bool(left.loops) is not bool(right.loops)
    if counted or (moving and op in ("==", "!=")):
        rare = op in ("==", "<", "<=") if not (counted and op in (">", ">=")) else False
        traits |= {Trait.RARE if rare or (counted and op == ">=") else Trait.COMMON}
    elif moving and op in ("<", "<=") and left.loops and right.const is not None:
        traits |= {Trait.RARE}
    const: bool | None = None
    if left.const is not None and right.const is not None and op in COMPARISONS:
        const = COMPARISONS[op](left.const, right.const)
        traits |= (left.traits | right.traits) & FACT
    return Number(const, left.loops | right.loops if not counted else frozenset(), traits)


def one_of(op: str, left: Number, right: Value) -> Number:
    """Whether a number is in a container: a number that changes with a loop rarely is one of those that are listed."""
    if isinstance(right, (Sequence, Mapping)) or right is UNKNOWN:
        element = element_of(right) if isinstance(right, Sequence) else UNKNOWN
        listed = element if isinstance(element, Number) else NUMBER
        return replace(compare_numbers("==" if op == "in" else "!=", left, listed), const=None)
    return Number(traits=left.traits & KEPT)


def truth_of_number(value: Value) -> Truth:
    """What a number's truth tells."""
    if not isinstance(value, Number):
        return Truth()
    truth = Truth(None if value.const is None else bool(value.const))
    traits = value.traits
    if not traits:
        return truth
    if Trait.RARE in traits:
        truth.if_true.add(Condition.PERIODIC)
    if Trait.COMMON in traits or Trait.COUNTED in traits:
        truth.if_false.add(Condition.PERIODIC)
    for trait, condition in (
        (Trait.RANK, Condition.RANK),
        (Trait.DATA, Condition.DATA),
        (Trait.RANDOM, Condition.RANDOM),
    ):
        if trait in traits:
            truth.if_true.add(condition)
            truth.if_false.add(condition)
    return truth


def part_of(model: Instance, member: Method) -> Value:
    """A member of a model that is not called at once: a method, or a model inside it where its structure is unknown."""
    if model.cls is not None or member.name in MODULE_METHODS or model.library not in UNSTRUCTURED:
        return member
    return Instance(None, "torch.nn.Module", place=model.place, model=True, certain=model.certain)


def number_of(truth: Truth) -> Number:
    """The boolean that a truth is, so that `flag = test` decides as `test` does."""
    traits: set[Trait] = set()
    if Condition.PERIODIC in truth.if_true:
        traits.add(Trait.RARE)
    if Condition.PERIODIC in truth.if_false:
        traits.add(Trait.COMMON)
    both = truth.if_true | truth.if_false
    for trait, condition in (
        (Trait.RANK, Condition.RANK),
        (Trait.DATA, Condition.DATA),
        (Trait.RANDOM, Condition.RANDOM),
    ):
        if condition in both:
            traits.add(trait)
    return Number(truth.known, traits=frozenset(traits) | (FACT if truth.known is not None else NO_TRAITS))


def combine(op: str, truths: list[Truth]) -> Truth:
    """The truth of several tests joined by `and` or `or`."""
    if op == "or":
        return combine("and", [truth.negated() for truth in truths]).negated()
    known: bool | None = True
    for truth in truths:
        if truth.known is False:
            known = False
            break
        if truth.known is None:
            known = None
    undecided = [truth for truth in truths if truth.known is not True] or truths
    may_alias = {Condition.RANK, Condition.DATA, Condition.RANDOM, Condition.SETTING}
    if_false = set.intersection(*(truth.if_false for truth in undecided))
    if_false |= {condition for truth in undecided for condition in truth.if_false & may_alias}
    return Truth(
        known,
        {condition for truth in truths for condition in truth.if_true},
        if_false,
        [fact for truth in truths for fact in truth.narrow_true],
        undecided[0].narrow_false if len(undecided) == 1 else [],
    )


def is_no_tensor(node: nodes.NodeNG, index: Narrowings) -> bool:
    """Whether an expression is a name that was just found to stand for no tensor."""
    return isinstance(node, nodes.Name) and any(
        being is Being.OTHER and isinstance(known, nodes.Name) and known.name == node.name for known, being in index
    )


def is_structural(node: nodes.Compare, value: Value) -> bool:
    """True for a test whose answer no default and no flag on the command line changes: identity, or the device."""
    fact = isinstance(value, Number) and Trait.FACT in value.traits
    return fact or (len(node.ops) == 1 and node.ops[0][0] in ("is", "is not"))


def is_setting(node: nodes.NodeNG, value: Value) -> bool:
    """True for a test of which nothing is known: a flag, an option, a name."""
    if isinstance(node, nodes.Compare) and (
        node.left.as_string() == "__name__" or any(is_none_constant(right) for _, right in node.ops)
    ):
        return False
    if isinstance(value, Number):
        return not value.loops and not value.traits
    return all(
        option in (UNKNOWN, NO_TENSOR) or isinstance(option, (Text, Number, Name, Method)) for option in options(value)
    )


def is_none(value: Value) -> bool | None:
    """Whether a value is None, where that is known."""
    if value is NONE:
        return True
    if value is UNKNOWN:
        return None
    if isinstance(value, Choice):
        return None if NONE in value.options or UNKNOWN in value.options else False
    return False


def index_sequence(value: Sequence, index: Value) -> Value:
    """The item of a sequence at an index."""
    if isinstance(index, Number) and index.const is not None and value.items is not None:
        position = int(index.const)
        if -len(value.items) <= position < len(value.items):
            return value.items[position]
    if isinstance(index, Slice):
        ends = [part.const if isinstance(part, Number) else None for part in index.parts]
        absent = [part is NONE for part in index.parts]
        if value.items is not None and all(a or e is not None for a, e in zip(absent, ends, strict=True)):
            start, stop, step = (None if e is None else int(e) for e in ends)
            if step == 0:
                return UNKNOWN
            return Sequence(value.items[start:stop:step], element_of(value), value.frozen)
        return Sequence(None, element_of(value), value.frozen)
    return element_of(value)


def moved_with(item: Value, index: Value) -> Value:
    """An item of a sequence: a number changes as its index does."""
    if isinstance(item, Number) and item.const is None and isinstance(index, Number) and index.loops:
        return Number(None, item.loops | index.loops, item.traits)
    return item


def sliced_length(length: int | None, part: Slice) -> int | None:
    """How many rows a slice of that many rows has."""
    ends = [part_.const if isinstance(part_, Number) and not part_.loops else None for part_ in part.parts]
    if any(end is None and value is not NONE for end, value in zip(ends, part.parts, strict=True)):
        return None
    start, stop, step = (None if end is None else int(end) for end in ends)
    if length is None:
        return stop if stop is not None and stop >= 0 and start in (None, 0) and step in (None, 1) else None
    return len(range(length)[start:stop:step])
