"""The parts of a plain loader's batch: whether the host asks for their values, or they go to the device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.contexts import Condition
from xla_lint.program.domain.values import FETCHED, Location

if TYPE_CHECKING:
    from xla_lint.program.domain.values import Tensor
    from xla_lint.program.machine.machine import Machine


def use_on_host(machine: Machine, tensor: Tensor, *, chooses: bool = False) -> None:
    """Note the parts of a plain loader's batch whose values the host asks for; `chooses`: to branch on them."""
    parts = tensor.parts - {FETCHED}
    depth = depth_of_loader(machine)
    if tensor.place is not Location.HOST or not parts or not depth:
        return
    loop = machine.loops[depth - 1]
    if chooses or any(part.whole for part in parts):
        loop.note_host_choice()
    elif FETCHED in tensor.parts:
        loop.note_device_use(parts)
    elif not any(c.condition is Condition.PERIODIC and c.depth >= depth for c in machine.here.path_condition):
        loop.note_host_use(parts)


def want_on_device(machine: Machine, tensor: Tensor) -> None:
    """Note that parts of a plain loader's batch are moved to the device."""
    depth = depth_of_loader(machine)
    if depth:
        machine.loops[depth - 1].note_device_use(tensor.parts)


def depth_of_loader(machine: Machine) -> int:
    """How many loops are around the body of the innermost loop over a loader, that loop among them; 0 without one."""
    loops = machine.loops
    return next((depth for depth in range(len(loops), 0, -1) if loops[depth - 1].loader is not None), 0)
