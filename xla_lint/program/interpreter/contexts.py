"""`with` statements, and the context managers that run their body."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.definitions import Function, Generator
from xla_lint.program.domain.objects import member_of
from xla_lint.program.domain.values import NONE, UNKNOWN, Instance
from xla_lint.program.interpreter.functions import site
from xla_lint.program.library.dispatch import enter_library
from xla_lint.program.machine.arguments import Arguments
from xla_lint.program.machine.meanings import statement

if TYPE_CHECKING:
    from collections.abc import Callable

    from xla_lint.program.domain.state import State
    from xla_lint.program.domain.values import Value
    from xla_lint.program.machine.machine import Machine

MOST_BODIES = 16
"""From so many runs of one body on, it is run at the first `yield` of its context manager alone."""


@statement(nodes.With, nodes.AsyncWith)
def with_(machine: Machine, node: nodes.With) -> None:
    enter_items(machine, list(node.items), node)


def enter_items(machine: Machine, items: list[tuple[nodes.NodeNG, nodes.NodeNG | None]], node: nodes.With) -> None:
    if not items:
        machine.run(node.body)
        return
    (expression, target), *rest = items
    manager = machine.evaluate(expression)

    def body(value: Value) -> None:
        if target is not None:
            machine.bind(target, value)
        enter_items(machine, rest, node)

    machine.enter(manager, body, expression)


def enter(machine: Machine, manager: Value, body: Callable[[Value], None], node: nodes.NodeNG) -> None:
    """Run a `with` statement's body inside its context manager."""
    if isinstance(manager, Generator) and manager.function.manager:
        enter_generator(machine, manager, body, node)
    elif isinstance(manager, Instance) and manager.cls is not None and member_of(manager.cls, "__enter__"):
        opened = machine.call(machine.attribute(manager, "__enter__", node), Arguments(node, []))
        body(opened)
        if machine.at.state is not None:
            leave = machine.attribute(manager, "__exit__", node)
            if isinstance(leave, Function):
                machine.call(leave, Arguments(node, [NONE, NONE, NONE]))
    else:
        enter_library(machine, manager, body, node)


def enter_generator(machine: Machine, manager: Generator, body: Callable[[Value], None], node: nodes.NodeNG) -> None:
    """Run a body at the `yield` of a context manager's function; the body stands in the frame of the statement."""
    if manager.function.node in machine.at.active or machine.limits.exhausted(node):
        machine.opaque()
        body(UNKNOWN)
        return
    outer, outer_state = machine.at, machine.here
    ended: list[State | None] = []

    def on_yield(value: Value) -> None:
        if ended and outer.frame.bodies[node] >= MOST_BODIES:
            return
        outer.frame.bodies[node] += 1
        inner = machine.at
        outer_state.take_course(machine.here)
        machine.at = replace(inner, frame=outer.frame, state=outer_state, calls=outer.calls, active=outer.active)
        body(value)
        ended.append(machine.at.state)
        machine.at = inner
        if ended[-1] is not None:
            machine.here.take_course(ended[-1])

    machine.activate(manager.function, dict(manager.bound), site(machine, manager.function, node), on_yield)
    if not ended:
        machine.opaque()
        body(UNKNOWN)
    elif ended[-1] is None:
        machine.at.state = None
    else:
        final = machine.here
        machine.at.state = ended[-1]
        machine.at.state.take_course(final)
