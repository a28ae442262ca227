"""Asking whether an expression holds: the host reads the value of a tensor to know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.being import narrowed
from xla_lint.program.domain.contexts import Condition
from xla_lint.program.domain.definitions import Class, Function
from xla_lint.program.domain.events import How
from xla_lint.program.domain.join import join_all
from xla_lint.program.domain.loaders import Loader
from xla_lint.program.domain.objects import is_drawn
from xla_lint.program.domain.values import (
    FACT,
    NONE,
    UNKNOWN,
    Choice,
    Instance,
    Number,
    Tensor,
    Text,
    Trait,
    options,
)
from xla_lint.program.interpreter.backend_flags import answer_of_flag
from xla_lint.program.interpreter.constant_flags import is_constant_flag
from xla_lint.program.interpreter.narrowing import narrowing, written_again
from xla_lint.program.interpreter.truth import Truth, combine, is_setting, is_structural, number_of, truth_of_number
from xla_lint.program.machine.arguments import Arguments
from xla_lint.program.machine.meanings import expression
from xla_lint.program.syntax.broken_values import finds_broken
from xla_lint.program.syntax.index import last_name
from xla_lint.program.syntax.version_tests import Answer, VersionTests

if TYPE_CHECKING:
    from xla_lint.program.domain.values import Value
    from xla_lint.program.interpreter.narrowing import Narrowings
    from xla_lint.program.machine.machine import Machine


NAMING_NODES = (nodes.Name, nodes.Attribute)


def ask(machine: Machine, node: nodes.NodeNG) -> Truth:
    """Ask whether an expression holds: the host reads the value of a tensor to know."""
    return truth_and_value(machine, node)[0]


def truth_and_value(machine: Machine, node: nodes.NodeNG) -> tuple[Truth, Value]:
    if isinstance(node, nodes.UnaryOp) and node.op == "not":
        truth, _ = truth_and_value(machine, node.operand)
        return truth.negated(), number_of(truth.negated())
    if isinstance(node, nodes.BoolOp):
        return truth_of_boolean(machine, node)
    value = machine.evaluate(node)
    truth = truth_of_value(machine, node, value)
    if (broken := finds_broken(node)) is not None:
        (truth.if_true if broken else truth.if_false).update({Condition.PERIODIC, Condition.ONCE})
    truth.narrow_true, truth.narrow_false = narrowing(node)
    if isinstance(node, nodes.Compare) and truth.known is not None and not is_structural(node, value):
        truth.known = None
    if truth.known is None and not truth.ranked and (asked := answer_of_flag(machine, node)) is not None:
        truth.known, truth.usual, truth.stated = asked, None, True
    elif truth.known is None and isinstance(value, Number) and is_constant_flag(machine, node):
        truth.known = None if value.const is None else bool(value.const)
    if truth.known is None:
        truth.known = answer_of_release(machine, node)
    if truth.known is None and is_setting(node, value):
        truth.if_true.add(Condition.SETTING)
        truth.if_false.add(Condition.SETTING)
    return truth, value


def answer_of_release(machine: Machine, node: nodes.NodeNG) -> bool | None:
    """What a comparison that asks for the release answers on the target; None for another test."""
    if not isinstance(node, nodes.Compare) or not any(map(names_version, node.nodes_of_class(NAMING_NODES))):
        return None
    answer = VersionTests(machine.target).decide(node)
    return answer is Answer.YES if answer in (Answer.YES, Answer.NO) else None


def names_version(node: nodes.NodeNG) -> bool:
    """Whether a name or an attribute is called after a version."""
    return "version" in last_name(node).lower()


def truth_of_boolean(machine: Machine, node: nodes.BoolOp) -> tuple[Truth, Value]:
    truths: list[Truth] = []
    values: list[Value] = []
    before = machine.here
    env, path_condition = before.env, before.path_condition
    before.env = dict(env)
    for operand in node.values:
        truth, value = truth_and_value(machine, operand)
        truths.append(truth)
        values.append(value)
        go_on(machine, node.op, truth)
        if truth.known is (node.op == "or"):
            break
    for name in before.env.keys() - env.keys():
        env[name] = before.env[name]
    before.env, before.path_condition = env, path_condition
    return combine(node.op, truths), join_all(values)


@expression(nodes.BoolOp)
def boolean_operation(machine: Machine, node: nodes.BoolOp) -> Value:
    values: list[Value] = []
    truths: list[Truth] = []
    entry, path_condition = machine.here, machine.here.path_condition
    for operand in node.values[:-1]:
        truth, value = truth_and_value(machine, operand)
        truths.append(truth)
        values.append(value)
        go_on(machine, node.op, truth)
    values.append(machine.evaluate(node.values[-1]))
    machine.at.state = entry
    entry.path_condition = path_condition
    if all(isinstance(value, Number) for value in values):
        last = truth_of_number(values[-1]) if isinstance(values[-1], Number) else Truth()
        deciding = node.op == "or"
        if any(isinstance(v, Number) and v.const is deciding and Trait.FACT in v.traits for v in values):
            return Number(deciding, traits=FACT)
        return number_of(combine(node.op, [*truths, last]))
    return join_all(values)


def go_on(machine: Machine, op: str, truth: Truth) -> None:
    """Let what an operand of `and` or `or` told hold for the operands after it."""
    narrow(machine, truth.narrow_true if op == "and" else truth.narrow_false)
    machine.assume(truth.if_true if op == "and" else truth.if_false)


def narrow(machine: Machine, told: Narrowings) -> None:
    """Let something be known of names from here on."""
    state = machine.at.state
    for node, being in told if state is not None else ():
        if isinstance(node, nodes.Name) and state is not None and (value := state.env.get(node.name)) is not None:
            state.env[node.name] = narrowed(value, being)


def narrow_again(machine: Machine, truth: Truth, body: list[nodes.NodeNG], orelse: list[nodes.NodeNG]) -> None:
    """Let what a test told of attributes and items hold where its branches write them again."""
    machine.narrowed.update(written_again(truth.narrow_true, body))
    machine.narrowed.update(written_again(truth.narrow_false, orelse))


def truth_of_value(machine: Machine, node: nodes.NodeNG, value: Value) -> Truth:
    """What a value tells that a test asked, whatever the test looks like."""
    if isinstance(value, Number):
        truth = truth_of_number(value)
        if value.loops and machine.loop is not None and machine.loop not in value.loops:
            truth.if_true.discard(Condition.ONCE)
            truth.if_false.discard(Condition.ONCE)
        if not isinstance(node, (nodes.Compare, nodes.Call, nodes.Const)) and Trait.FACT not in value.traits:
            truth.known = None
        return truth
    if value is NONE:
        return Truth(False)
    if isinstance(value, (Tensor, Choice)):
        differs = False
        for option in options(value):
            if isinstance(option, Tensor) and machine.read(node, None, option, How.BRANCH, "truth"):
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
        return truth_of_instance(machine, node, value)
    if isinstance(value, Text) and isinstance(node, nodes.Const):
        return Truth(bool(value.const))
    return Truth()


def truth_of_instance(machine: Machine, node: nodes.NodeNG, value: Instance) -> Truth:
    method = machine.attribute(value, "__bool__", node) if value.cls is not None else UNKNOWN
    if isinstance(method, Function):
        machine.call(method, Arguments(node, []))
        return Truth()
    return Truth(True if value.model or not value.cls else None)
