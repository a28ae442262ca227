"""`match` statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.events import How
from xla_lint.program.domain.state import meet_all
from xla_lint.program.domain.values import UNKNOWN, Number
from xla_lint.program.interpreter.comparisons import compare
from xla_lint.program.interpreter.conditions import ask
from xla_lint.program.interpreter.truth import Truth, combine, truth_of_number
from xla_lint.program.machine.meanings import statement

if TYPE_CHECKING:
    from xla_lint.program.domain.heap import Changes
    from xla_lint.program.domain.state import State
    from xla_lint.program.machine.machine import Machine


@statement(nodes.Match)
def match(machine: Machine, node: nodes.Match) -> None:
    subject = machine.evaluate(node.subject)
    before = machine.here
    mark = machine.heap.mark()
    ends: list[State | None] = [before.fork()]
    heaps: list[Changes] = [{}]
    if any(case.pattern is not None and isinstance(case.pattern, nodes.MatchValue) for case in node.cases):
        machine.read(node, node.subject, subject, How.BRANCH, "match")
    for case in node.cases:
        machine.at.state = before.fork()
        for name in case.pattern.nodes_of_class(nodes.AssignName):
            machine.bind(name, subject if isinstance(case.pattern, nodes.MatchAs) else UNKNOWN)
        if isinstance(subject, Number):
            machine.assume(truth_of_number(Number(traits=subject.traits)).if_true)
            machine.assume(fits(machine, case.pattern, subject).if_true)
        if case.guard is not None:
            machine.assume(ask(machine, case.guard).if_true)
        machine.run(case.body)
        ends.append(machine.at.state)
        heaps.append(machine.heap.take_back(mark))
    machine.heap.merge(*heaps)
    machine.at.state = meet_all(ends)


def fits(machine: Machine, pattern: nodes.NodeNG, subject: Number) -> Truth:
    """Whether a number is one of those that a pattern spells."""
    if isinstance(pattern, nodes.MatchOr):
        return combine("or", [fits(machine, option, subject) for option in pattern.patterns])
    if not isinstance(pattern, nodes.MatchValue):
        return Truth()
    return truth_of_number(compare(machine, pattern, "==", pattern.value, machine.evaluate(pattern.value), subject))
