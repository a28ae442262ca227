"""Schedules of learning rates: they compute on the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import How
from xla_lint.program.domain.values import NONE, NUMBER, UNKNOWN, Instance, Mapping, Sequence, Value
from xla_lint.program.library.registry import methods

if TYPE_CHECKING:
    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine


@methods("torch.optim.lr_scheduler.")
@methods("torch.optim.swa_utils.SWALR")
def schedule_method(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """Methods of a schedule."""
    if name == "step":
        if receiver.library.endswith("ReduceLROnPlateau") and arguments.positional:
            metric = arguments.positional[0]
            machine.read(arguments.node, arguments.node_of(0), metric, How.HIDDEN, "ReduceLROnPlateau.step")
        return NONE
    if name == "state_dict":
        return Mapping({}, NUMBER)
    if name == "get_last_lr":
        return Sequence(None, NUMBER)
    return NONE if name == "__init__" else UNKNOWN
