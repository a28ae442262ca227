"""Collectives of backends and `torch.distributed`: what every replica has to call, and what it makes the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend import names, spelled
from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.values import NONE, UNKNOWN, Location, Sequence, Tensor, Value, options
from xla_lint.program.library.optimizers import parameters_in, reduce
from xla_lint.program.library.registry import function

if TYPE_CHECKING:
    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine

DIST = "torch.distributed."
SHARING = frozenset({"all_reduce", "all_gather", "all_gather_into_tensor", "broadcast", "collective_broadcast"})
"""The collectives after which every replica holds the same values."""
IN_PLACE = (
    "all_reduce", "broadcast", "reduce", "all_gather", "all_gather_into_tensor", "reduce_scatter",
    "reduce_scatter_tensor", "all_to_all", "all_to_all_single", "gather", "scatter",
)  # fmt: skip
ON_HOST = (
    "barrier", "monitored_barrier", "all_gather_object", "gather_object", "broadcast_object_list",
    "scatter_object_list",
)  # fmt: skip


@function(*names(Role.COLLECTIVE))
def collective(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A collective inside the graph: it returns its result, or a list of tensors changed in place."""
    last = dotted.rpartition(".")[2]
    machine.collective(arguments.node, spelled(dotted))
    value = arguments.get(1 if "reduce" in last else 0) or UNKNOWN
    if last == "all_reduce":
        note_reduction(machine, value, arguments, spelled(dotted))
    if isinstance(value, Sequence):
        change_in_place(machine, value, last)
        return value if last == "all_reduce" else UNKNOWN
    return machine.derived(arguments.node, [value], collective=True, shared=last in SHARING)


@function(*(DIST + name for name in IN_PLACE))
def distributed(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A collective that changes its first argument in place."""
    last = dotted.rpartition(".")[2]
    machine.collective(arguments.node, f"torch.distributed.{last}")
    value = arguments.get(0) or next(iter(arguments.keywords.values()), UNKNOWN)
    if last in ("all_reduce", "reduce_scatter", "reduce_scatter_tensor"):
        note_reduction(machine, value, arguments, f"torch.distributed.{last}")
    change_in_place(machine, value, last)
    return NONE


@function(*(DIST + name for name in ON_HOST), *names(Role.BROADCAST))
def meeting(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A collective that changes no tensor in sight."""
    machine.collective(arguments.node, spelled(dotted))
    return NONE


@function(*names(Role.REDUCE_GRADIENTS, Role.REDUCE_LIST))
def reduce_gradients(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """The gradients of an optimizer, or a list of them, are reduced."""
    machine.collective(arguments.node, spelled(dotted))
    reduce(machine, arguments.node, spelled(dotted))
    return NONE


@function(*names(Role.ON_SOME))
def on_some(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A function runs on some replicas, with host copies of its data, and a rendezvous ends the call."""
    machine.hand_over(arguments)
    machine.barrier(arguments.node, spelled(dotted), silent=True, waits=True)
    return UNKNOWN


def note_reduction(machine: Machine, value: Value, arguments: Arguments, how: str) -> None:
    """A reduction is one of gradients unless it is known to be of something else."""
    tensors = list(parameters_in(value))
    if not tensors or any(origin.gradient for tensor in tensors for origin in tensor.origins):
        reduce(machine, arguments.node, how)


def change_in_place(machine: Machine, value: Value, name: str) -> None:
    """Let device tensors hold a collective's result."""
    for option in options(value):
        for tensor in parameters_in(option):
            if isinstance(tensor, Tensor) and tensor.place is Location.DEVICE:
                machine.heap.assign(tensor, "recorded_in", max(machine.here.epochs))
                machine.heap.assign(tensor, "collective", True)
                machine.heap.assign(tensor, "shared", name in SHARING)
