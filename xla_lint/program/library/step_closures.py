"""Step closures: they run after the barrier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.backend import names
from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.definitions import Function
from xla_lint.program.domain.events import How, Read, StepClosure
from xla_lint.program.domain.values import (
    MATERIALISED,
    NONE,
    UNKNOWN,
    Number,
    Sequence,
    Tensor,
    Text,
    Value,
    options,
)
from xla_lint.program.library.registry import function
from xla_lint.program.machine.arguments import Arguments
from xla_lint.program.syntax.spelling import source_of

if TYPE_CHECKING:
    from xla_lint.program.machine.machine import Machine


@function(*names(Role.STEP_CLOSURE))
def add_step_closure(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Register a callback that runs after the barrier."""
    node = arguments.node
    machine.emit(StepClosure(node, machine.context, closure_problem(machine, arguments)))
    callback = arguments.get(0, "closure")
    given = arguments.get(1, "args")
    items = given.items if isinstance(given, Sequence) and given.items is not None else []
    run_closure(machine, callback, [materialised(item) for item in items], node)
    return NONE


def closure_problem(machine: Machine, arguments: Arguments) -> str | None:
    """What is wrong with the arguments of a step closure, None where nothing is."""
    callback = arguments.get(0, "closure")
    callback_node = arguments.node_of(0, "closure")
    if isinstance(callback_node, nodes.Call) and (callback is NONE or isinstance(callback, (Number, Text, Tensor))):
        return f"'{source_of(callback_node)}' is called at once, and its result is registered"
    given = arguments.get(1, "args")
    given_node = arguments.node_of(1, "args")
    if given_node is None:
        return None
    for event in reversed(machine.events):
        if isinstance(event, Read) and event.how is How.VALUE:
            if event.node.lineno is None or not within(event.node, given_node):
                break
            return f"'{source_of(event.node)}' reads the value before the barrier"
        if event.node is not arguments.node and not within(event.node, given_node):
            break
    if isinstance(given, (Tensor, Number)):
        return f"'args={source_of(given_node)}' is no tuple"
    return None


def within(node: nodes.NodeNG | None, outer: nodes.NodeNG) -> bool:
    """Whether a node is part of another one."""
    while node is not None:
        if node is outer:
            return True
        node = node.parent
    return False


def materialised(value: Value) -> Value:
    """A value as a step closure sees it: what was pending has been computed."""
    if isinstance(value, Tensor):
        return value.like(recorded_in=MATERIALISED)
    if isinstance(value, Sequence) and value.items is not None:
        return Sequence([materialised(item) for item in value.items], UNKNOWN, value.frozen)
    return value


def run_closure(machine: Machine, callback: Value | None, items: list[Value], node: nodes.NodeNG) -> None:
    """Run a step closure's body, after an imagined barrier."""
    for option in options(callback or NONE):
        if not isinstance(option, Function) or option.node in machine.at.active:
            continue
        state = machine.here.fork()
        state.epochs = frozenset({max(state.epochs) + 1_000_000})
        state.materialised = frozenset()
        with machine.elsewhere(state=state, closure=True):
            machine.call(option, Arguments(node, items))
