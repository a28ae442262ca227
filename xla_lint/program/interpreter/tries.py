"""`try` and `raise`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.state import meet_all
from xla_lint.program.domain.values import UNKNOWN
from xla_lint.program.machine.meanings import statement

if TYPE_CHECKING:
    from xla_lint.program.domain.state import State
    from xla_lint.program.machine.machine import Machine


@statement(nodes.Try, nodes.TryStar)
def try_(machine: Machine, node: nodes.Try) -> None:
    before = machine.here.fork()
    mark = machine.heap.mark()
    tests = machine.at.tests
    machine.at.tests = (*tests, len(machine.at.loops))
    machine.at.catching += bool(node.handlers)
    machine.run(node.body)
    machine.at.catching -= bool(node.handlers)
    if machine.at.state is not None and node.orelse:
        machine.run(node.orelse)
    ends: list[State | None] = [machine.at.state]
    alive = machine.at.state
    thrown = before if alive is None else alive.fork().meet(before.fork())
    doubt = machine.at.doubt
    if node.handlers:
        machine.at.doubt = len(machine.at.loops)
        tried = machine.heap.take_back(mark)
        machine.heap.merge(tried)
        heaps = [tried]
        for handler in node.handlers:
            machine.at.state = thrown.fork()
            machine.at.state.path_condition = before.path_condition
            if isinstance(handler.name, nodes.AssignName):
                machine.bind(handler.name, UNKNOWN)
            inner = machine.heap.mark()
            machine.run(handler.body)
            heaps.append(machine.heap.take_back(inner))
            ends.append(machine.at.state)
        machine.heap.merge(*[{**heaps[0], **heap} for heap in heaps])
    machine.at.tests, machine.at.doubt = tests, doubt
    machine.at.state = meet_all(ends)
    if node.finalbody:
        ended = machine.at.state is None
        if ended:
            machine.at.state = before.fork()
        machine.run(node.finalbody)
        if ended:
            machine.at.state = None


@statement(nodes.Raise)
def raise_(machine: Machine, node: nodes.Raise) -> None:
    if node.exc is not None:
        machine.quietly(node.exc)
    machine.at.state = None
