"""Generator functions: what they yield, and what iterates them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.definitions import Generator
from xla_lint.program.domain.join import join_all
from xla_lint.program.domain.values import NONE, UNKNOWN
from xla_lint.program.interpreter.functions import is_exhausted, site
from xla_lint.program.machine.meanings import expression, iterating
from xla_lint.program.machine.memo import rebased

if TYPE_CHECKING:
    from xla_lint.program.domain.loops import Loop
    from xla_lint.program.domain.values import Value
    from xla_lint.program.machine.machine import Machine


@expression(nodes.Yield)
def yield_(machine: Machine, node: nodes.Yield) -> Value:
    value: Value = machine.evaluate(node.value) if node.value is not None else NONE
    frame = machine.at.frame
    frame.yields.append((value, machine.here.epochs))
    feed(machine)
    if frame.on_yield is not None:
        frame.on_yield(value)
    elif machine.without_caller:
        machine.opaque()
    return UNKNOWN


@expression(nodes.YieldFrom)
def yield_from(machine: Machine, node: nodes.YieldFrom) -> Value:
    source = machine.evaluate(node.value) if node.value is not None else UNKNOWN
    feed(machine)
    item = machine.iterate(source, machine.loop if machine.at.frame.consumer is not None else None, node)
    machine.at.frame.yields.append((item, machine.here.epochs))
    return UNKNOWN


def feed(machine: Machine) -> None:
    """Note that each turn of the loops of this generator gives its consumer an item."""
    consumer, loops = machine.at.frame.consumer, machine.at.loops
    if consumer is not None and consumer in loops:
        for loop in loops[loops.index(consumer) + 1 :]:
            loop.feed(consumer)


@iterating(Generator)
def iterate_generator(machine: Machine, value: Generator, loop: Loop | None, node: nodes.NodeNG) -> Value:
    """Run a generator's body; each item that it yields is pending where it was recorded in the epoch of its `yield`."""
    function = value.function
    if (
        function.node in machine.at.active
        or machine.limits.exhausted(node)
        or is_exhausted(machine, function, siblings=1)
    ):
        return machine.unknown_path()
    _, frame = machine.activate(value.function, dict(value.bound), site(machine, value.function, node), consumer=loop)
    return join_all(as_yielded(machine, value, epochs) for value, epochs in frame.yields)


def as_yielded(machine: Machine, value: Value, epochs: frozenset[int]) -> Value:
    """What a generator's consumer gets: what was pending when it was yielded is pending there."""
    if epochs == machine.here.epochs:
        return value
    return rebased(value, dict.fromkeys(epochs, max(machine.here.epochs)))
