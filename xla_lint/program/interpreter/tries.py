"""`try` and `raise`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.state import meet_all
from xla_lint.program.domain.values import FACT, UNKNOWN, Number
from xla_lint.program.interpreter.branches import count_departures, leave
from xla_lint.program.machine.meanings import statement
from xla_lint.program.syntax.reachable import expected, mentions_xla

if TYPE_CHECKING:
    from collections.abc import Collection

    from xla_lint.program.domain.state import State
    from xla_lint.program.machine.machine import Machine


@statement(nodes.Try, nodes.TryStar)
def try_(machine: Machine, node: nodes.Try) -> None:
    if is_optional_import(node):
        absent = imports_one_of(node, machine.aim.absent)
        if not absent:
            machine.run([*node.body, *node.orelse, *node.finalbody])
            state_flags(machine, [*node.body, *node.orelse])
            return
        if not all(leaves(handler.body) for handler in node.handlers):
            instead = [statement for handler in node.handlers[:1] for statement in handler.body]
            machine.run([*instead, *node.finalbody])
            state_flags(machine, instead)
            return
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
            departures, events = count_departures(machine), len(machine.events)
            machine.run(handler.body)
            if machine.at.state is None:
                leave(machine, departures, events)
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


def is_optional_import(node: nodes.Try) -> bool:
    """Whether a `try` only imports, a backend among others, and is there for the case that it is not installed."""
    plain = (nodes.Import, nodes.ImportFrom, nodes.Assign, nodes.AnnAssign)
    if not all(isinstance(inner, plain) for inner in (*node.body, *node.orelse)):
        return False
    imports: list[nodes.NodeNG] = [n for n in node.body if isinstance(n, (nodes.Import, nodes.ImportFrom))]
    return any(map(mentions_xla, imports)) and all("ImportError" in expected(h, imports[:1]) for h in node.handlers)


def imports_one_of(node: nodes.Try, packages: Collection[str]) -> bool:
    """Whether a `try` imports one of some packages."""
    names: list[str] = []
    for inner in node.body:
        if isinstance(inner, nodes.Import):
            names += [name for name, _ in inner.names]
        elif isinstance(inner, nodes.ImportFrom) and not inner.level:
            names.append(inner.modname or "")
    return any(name.partition(".")[0] in packages for name in names)


def leaves(body: list[nodes.NodeNG]) -> bool:
    """Whether what handles a failed import ends the program: it cannot do without."""
    return isinstance(body[-1], nodes.Raise)


def state_flags(machine: Machine, body: list[nodes.NodeNG]) -> None:
    """What an import of a backend states by a constant is a fact on it: `HAS_XLA = True`."""
    for node in body if machine.at.state is not None else ():
        if isinstance(node, nodes.Assign) and isinstance(node.value, nodes.Const):
            value = node.value.value
            for target in node.targets if isinstance(value, bool) else ():
                machine.bind(target, Number(value, traits=FACT))


@statement(nodes.Raise)
def raise_(machine: Machine, node: nodes.Raise) -> None:
    if node.exc is not None:
        machine.quietly(node.exc)
    machine.at.state = None
