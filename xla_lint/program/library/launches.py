"""Starting replicas, and joining them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend import BACKENDS, names
from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.definitions import Function, Method
from xla_lint.program.domain.events import Launch
from xla_lint.program.domain.ranks import RANK
from xla_lint.program.domain.values import NONE, UNKNOWN, Number, Sequence, Text, Value, options
from xla_lint.program.library.registry import function
from xla_lint.program.machine.arguments import Arguments

if TYPE_CHECKING:
    from xla_lint.program.machine.machine import Machine


PROCESS_GROUPS = frozenset(backend.process_group for backend in BACKENDS)
"""How the process groups of lazy devices are called."""


@function(*names(Role.SHARED_MODEL))
def share(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A model that the replicas share."""
    return arguments.get(0, "fn") or UNKNOWN


@function(*names(Role.LAUNCH))
def launch(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Run a function on every replica; its first parameter is the index of the process."""
    target = arguments.get(0, "fn")
    if may_replicate(arguments):
        touched, among = machine.here.touched, machine.touches.among
        machine.emit(Launch(arguments.node, machine.context, among(touched.always), among(touched.perhaps)))
    if isinstance(target, (Function, Method)):
        touched = machine.here.touched
        extra = arguments.get(1, "args")
        items = extra.items if isinstance(extra, Sequence) and extra.items is not None else None
        given = Arguments(arguments.node, [RANK, *(items or [])], unpacked=extra is not None and items is None)
        with machine.elsewhere(replicated=not is_alone(arguments)):
            machine.call(target, given)
        machine.here.touched = touched
    return NONE


def is_alone(arguments: Arguments) -> bool:
    """True where a launch starts one process only."""
    processes, debug = arguments.get(2, "nprocs"), arguments.keywords.get("debug_single_process")
    return (isinstance(processes, Number) and processes.const == 1) or (isinstance(debug, Number) and bool(debug.const))


def may_replicate(arguments: Arguments) -> bool:
    """True where a launch starts a process for each device, as far as its arguments tell."""
    processes, debug = arguments.get(2, "nprocs"), arguments.keywords.get("debug_single_process")
    named = "nprocs" in arguments.keywords or isinstance(processes, Number)
    several = not named or processes is NONE or (isinstance(processes, Number) and (processes.const or 0) > 1)
    return several and (debug is None or (isinstance(debug, Number) and debug.const is False))


@function("torch.distributed.init_process_group")
def join_replicas(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A process that joins others over a lazy device is one replica of several.

    A module that imports what this takes means to, where the backend is chosen elsewhere.
    """
    backend = arguments.get(0, "backend") or UNKNOWN
    stated = {option.const if isinstance(option, Text) else None for option in options(backend)}
    meant = None in stated and machine.backend.process_group_module in machine.index.imported
    machine.at.replicated |= meant or not stated.isdisjoint(PROCESS_GROUPS)
    return NONE
