"""Functions that are handed to code which cannot be seen, and called by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.definitions import Function
from xla_lint.program.domain.events import RankIndex
from xla_lint.program.domain.loops import Form
from xla_lint.program.domain.objects import bound_to, differs_between_replicas, member_of
from xla_lint.program.domain.values import NONE, UNKNOWN, Device, Instance, Name, Tensor, options
from xla_lint.program.interpreter.functions import bind_parameters
from xla_lint.program.library.optimizers import holds_gradients
from xla_lint.program.machine.arguments import Arguments

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.domain.values import Value
    from xla_lint.program.machine.machine import Machine


PLAIN = frozenset({Name, Tensor, Device, type(UNKNOWN), type(NONE)})
"""What neither is a function or an object nor differs between replicas."""


def hand_over(machine: Machine, arguments: Arguments) -> None:
    """Functions given to code that cannot be seen are called by it, again and again.

    Such code, given a rank, may take this replica's part of the data.
    """
    values = [value for value in arguments.values() if type(value) not in PLAIN]
    machine.exposed = machine.exposed or any(map(holds_gradients, arguments.values()))
    if any(map(differs_between_replicas, values)):
        machine.emit(RankIndex(arguments.node, machine.context))
    for value in values:
        for option in options(value):
            if isinstance(option, Instance) and not option.model:
                method = member_of(option.cls, "__call__")
                if isinstance(method, Function):
                    run_callback(machine, bound_to(method, option), arguments.node)
            elif isinstance(option, Function):
                run_callback(machine, option, arguments.node)


def run_callback(machine: Machine, function: Function, node: nodes.NodeNG) -> None:
    """Run a function that other code will call with arguments of its own."""
    if is_to_be_run(machine, function):
        with machine.elsewhere(loops=(), state=machine.here.fork(), callback=True):
            machine.activate(function, bind_parameters(function, Arguments(node, [])))


def run_hook(machine: Machine, function: Function, given: list[Value], node: nodes.NodeNG) -> None:
    """Run a function that a model calls with these values whenever it runs."""
    if is_to_be_run(machine, function):
        with machine.elsewhere(loops=(), state=machine.here.fork()):
            loop = machine.loop_table.loop(function.node, function.name, machine.at, Form.HOOK)
            with machine.inside(loop):
                machine.activate(function, bind_parameters(function, Arguments(node, given)))


def is_to_be_run(machine: Machine, function: Function) -> bool:
    """Whether a function that is handed over is run now: it is once, and not inside itself."""
    if function.node in machine.handed or function.node in machine.at.active or machine.limits.exhausted(function.node):
        return False
    machine.handed.add(function.node)
    return True
