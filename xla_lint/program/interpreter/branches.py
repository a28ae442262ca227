"""Branches: each path starts from the same state and heap, and they meet again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeGuard

from astroid import nodes

from xla_lint.program.domain.being import Being
from xla_lint.program.domain.contexts import Condition
from xla_lint.program.domain.environment import changes
from xla_lint.program.domain.events import HostChoice, Parting
from xla_lint.program.domain.join import join_all, may_alias, per_replica
from xla_lint.program.domain.longest import LONGEST_LENGTH
from xla_lint.program.domain.state import meet_all
from xla_lint.program.domain.values import NO_TENSOR, OF_KIND, Number, Trait
from xla_lint.program.interpreter.conditions import ask, narrow, narrow_again
from xla_lint.program.library.longest_rows import keeps_for_each_batch
from xla_lint.program.machine.meanings import expression, statement
from xla_lint.program.syntax.latches import shuts
from xla_lint.program.syntax.running_maximum import running_maximum
from xla_lint.program.syntax.spelling import REFERENCES

if TYPE_CHECKING:
    from collections.abc import Callable

    from xla_lint.program.domain.contexts import Context
    from xla_lint.program.domain.heap import Changes
    from xla_lint.program.domain.state import State
    from xla_lint.program.domain.values import Value
    from xla_lint.program.interpreter.narrowing import Narrowings
    from xla_lint.program.interpreter.truth import Truth
    from xla_lint.program.machine.machine import Machine


TELLING = frozenset({Condition.PERIODIC, Condition.RANK})
"""The conditions of a test that say when what stands under it runs."""


@statement(nodes.If)
def if_(machine: Machine, node: nodes.If) -> None:
    if keeps_longest(machine, node):
        return
    truth = test_of(machine, node.test)
    narrow_again(machine, truth, node.body, node.orelse)
    if fills(node):
        truth.if_true.add(Condition.PERIODIC)
    if truth.known is not False and machine.at.loops and shuts(node):
        truth.known = None
        truth.if_true |= {Condition.PERIODIC, Condition.ONCE}
    branch(
        machine,
        truth,
        lambda: machine.run(node.body),
        lambda: machine.run(node.orelse),
        node.test,
    )


def keeps_longest(machine: Machine, node: nodes.If) -> bool:
    """Keep the greatest of the lengths that a loop comes across; False for what is something else."""
    running = running_maximum(node)
    if running is None or not keeps_for_each_batch(machine, [machine.evaluate(running.candidate)]):
        return False
    machine.bind(running.target, LONGEST_LENGTH)
    return True


def test_of(machine: Machine, test: nodes.NodeNG) -> Truth:
    truth = ask(machine, test)
    if is_type_checking(test):
        truth.known = False
    return truth


def is_type_checking(test: nodes.NodeNG) -> bool:
    """True for `TYPE_CHECKING`."""
    return (isinstance(test, nodes.Name) and test.name == "TYPE_CHECKING") or (
        isinstance(test, nodes.Attribute) and test.attrname == "TYPE_CHECKING"
    )


def fills(node: nodes.If) -> bool:
    """Whether a branch puts into a container what is not in it yet: `if key not in cache: cache[key] = ...`."""
    test = node.test
    if not (isinstance(test, nodes.Compare) and [op for op, _ in test.ops] == ["not in"]):
        return False
    targets = [target for statement in node.body if isinstance(statement, nodes.Assign) for target in statement.targets]
    if not any(isinstance(target, nodes.Subscript) for target in targets):
        return False
    slot = f"{test.ops[0][1].as_string()}[{test.left.as_string()}]"
    return any(target.as_string() == slot for target in targets)


def branch(
    machine: Machine, truth: Truth, body: Callable[[], None], orelse: Callable[[], None], test: nodes.NodeNG
) -> None:
    """Run both ways of a test that may be taken, each from the same state and heap, and let them meet."""
    before = machine.here
    path_condition, touched = before.path_condition, before.touched
    mark = machine.heap.mark()
    ends: list[State | None] = []
    heaps: list[Changes] = []
    random = Condition.RANDOM in truth.if_true
    operations, dead, ended, ends_loop = machine.operations, False, False, False
    tests, doubt = machine.at.tests, machine.at.doubt
    apart = truth.apart
    if truth.known is None:
        machine.at.tests = (*tests, len(machine.at.loops))
    if apart:
        machine.emit(Parting(test, machine.context))
    for when, run, conditions, told in (
        (True, body, truth.if_true, truth.narrow_true),
        (False, orelse, truth.if_false, truth.narrow_false),
    ):
        if truth.known is (not when):
            continue
        last = when is False or truth.known is True
        machine.at.state = before if last and not random else before.fork()
        machine.assume(conditions)
        narrow(machine, told)
        if truth.known is None:
            machine.at.state.touched = touched.under_a_test()
        if truth.known is None and conditions.isdisjoint(TELLING):
            machine.at.doubt = len(machine.at.loops)
        departures, events = count_departures(machine), len(machine.events)
        run()
        if machine.at.state is None:
            ended |= count_departures(machine) == departures
            skips, breaks = skipped_by(machine, departures)
            dead, ends_loop = dead or skips or breaks, ends_loop or breaks
            leave(machine, departures, events)
        ends.append(machine.at.state)
        heaps.append(machine.heap.take_back(mark))
        machine.at.doubt = doubt
    machine.at.tests = tests
    arrived = len(ends) == 2 and all(end is not None for end in ends)
    whole = arrived or (len(ends) == 2 and ended)
    if truth.usual is not None and len(ends) == 2 and ends[not truth.usual] is not None:
        ends, heaps = [ends[not truth.usual]], [heaps[not truth.usual]]
    machine.heap.merge(*heaps, apart=apart)
    if random and (machine.operations > operations or (dead and machine.at.loops)) and truth.known is None:
        machine.at.state = before
        ends_turns = ends_loop and machine.operations == operations
        machine.emit(HostChoice(test, machine.context, "branch", machine.loops[-1] if ends_turns else None))
    flags = periodic_flags(truth, ends)
    machine.at.state = meet_all(ends, apart=apart)
    if machine.at.state is not None:
        machine.at.state.env.update(flags)
    if machine.at.state is not None and arrived:
        machine.at.state.touched = machine.at.state.touched.after_a_test(touched)
    if machine.at.state is not None and whole:
        machine.at.state.path_condition = path_condition


def periodic_flags(truth: Truth, ends: list[State | None]) -> dict[str, Value]:
    """The flags that a test which holds every few turns sets one way, and that are the other way else."""
    rarely = Condition.PERIODIC in truth.if_true
    if len(ends) < 2 or ends[0] is None or ends[1] is None or rarely is (Condition.PERIODIC in truth.if_false):
        return {}
    now_and_then, usual = (ends[0].env, ends[1].env) if rarely else (ends[1].env, ends[0].env)
    found: dict[str, Value] = {}
    for name in changes(now_and_then, usual)[0]:
        a, b = now_and_then[name], usual[name]
        if is_truth(a) and is_truth(b) and a.const is not b.const:
            once = {Trait.ONCE} if Condition.ONCE in truth.if_true | truth.if_false else set()
            found[name] = Number(None, traits=frozenset({Trait.RARE if a.const else Trait.COMMON, *once}))
    return found


def is_truth(value: Value) -> TypeGuard[Number]:
    """Whether a value is True, or False."""
    return isinstance(value, Number) and isinstance(value.const, bool)


def count_departures(machine: Machine) -> tuple[int, int, int]:
    """How many paths returned, broke and continued so far; one that raises ends the program instead."""
    frame = machine.at.frame
    if not frame.exits:
        return len(frame.returns), 0, 0
    exits = frame.exits[-1]
    return len(frame.returns), len(exits.breaks), len(exits.continues)


def skipped_by(machine: Machine, departures: tuple[int, int, int]) -> tuple[bool, bool]:
    """Whether a path that ended skips the rest of a turn, and whether it is the last turn of its loop."""
    returned, broke, continued = (now - then for now, then in zip(count_departures(machine), departures, strict=True))
    inside_turn = machine.at.frame.depth == len(machine.at.loops)
    return bool(continued or (returned and inside_turn)), bool(broke or (returned and not inside_turn))


def leave(machine: Machine, departures: tuple[int, int, int], events: int) -> None:
    """Note the loops that a path ended which began with so many departures and events."""
    returned, broke, continued = (now - then for now, then in zip(count_departures(machine), departures, strict=True))
    raised = not (returned or broke or continued)
    if continued or (raised and machine.at.catching):
        return
    first = 0 if raised else len(machine.at.loops) - 1 if broke else machine.at.frame.depth
    left = frozenset(machine.at.loops[first:])
    leaving: dict[Context, Context] = {}
    for event in machine.events[events:] if left else ():
        context = leaving.get(event.context)
        if context is None:
            context = leaving[event.context] = event.context.leaving(left)
        event.context = context


@statement(nodes.Assert)
def assert_(machine: Machine, node: nodes.Assert) -> None:
    """An assertion on a tensor; in code that is traced the device checks it."""
    if machine.at.compiled is not None:
        machine.evaluate(node.test)
        return
    truth = ask(machine, node.test)
    narrow(machine, truth.narrow_true)


@expression(nodes.IfExp)
def conditional_expression(machine: Machine, node: nodes.IfExp) -> Value:
    truth = ask(machine, node.test)
    narrow_again(machine, truth, [node.body], [node.orelse])
    results: list[Value] = []
    before = machine.here
    path_condition = before.path_condition
    operations, doubt = machine.operations, machine.at.doubt
    for branch, when, conditions, told in (
        (node.body, True, truth.if_true, truth.narrow_true),
        (node.orelse, False, truth.if_false, truth.narrow_false),
    ):
        if truth.known is (not when):
            continue
        machine.at.state = before.fork()
        machine.assume(conditions)
        narrow(machine, told)
        if truth.known is None and conditions.isdisjoint(TELLING):
            machine.at.doubt = len(machine.at.loops)
        results.append(NO_TENSOR if is_no_tensor(branch, told) else machine.evaluate(branch))
        machine.at.doubt = doubt
        before.merge_course(machine.here)
    if truth.usual is not None and len(results) == 2:
        results = [results[not truth.usual]]
    before.path_condition = path_condition
    machine.at.state = before
    if Condition.RANDOM in truth.if_true and machine.operations > operations:
        machine.emit(HostChoice(node.test, machine.context, "conditional expression"))
    if truth.stated and isinstance(results[0], Number):
        return replace(results[0], traits=results[0].traits | OF_KIND)
    named = isinstance(node.body, REFERENCES) and isinstance(node.orelse, REFERENCES)
    result = may_alias(results) if named else join_all(results)
    return per_replica(result, results, truth.apart) if truth.apart else result


def is_no_tensor(node: nodes.NodeNG, told: Narrowings) -> bool:
    """Whether an expression is a name that was just found to stand for no tensor."""
    return isinstance(node, nodes.Name) and any(
        being is Being.OTHER and isinstance(known, nodes.Name) and known.name == node.name for known, being in told
    )
