"""`torch.nn.utils`, `torch.nn.init` and parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import DataShape
from xla_lint.program.domain.locations import device_tensors, location_of
from xla_lint.program.domain.values import NONE, UNKNOWN, Location, Tensor, Value
from xla_lint.program.domain.walk import tensors_in
from xla_lint.program.library.optimizers import clip, parameters_place
from xla_lint.program.library.registry import function

if TYPE_CHECKING:
    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine


@function("torch.nn.Parameter", "torch.nn.Buffer", "torch.nn.parameter.Parameter")
def parameter(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A tensor that a module learns or keeps; it begins a history of its own."""
    tensor = next(iter(tensors_in(arguments.get(0) or NONE)), None)
    return (tensor or Tensor(Location.UNKNOWN)).like(grad=False)


@function("torch.nn.init.")
def initialise(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A tensor is filled in place."""
    return arguments.get(0) or UNKNOWN


@function("torch.nn.utils.")
def utility(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Gradient clipping stays on the device; its result is the norm. Padding keeps its operands' place."""
    if "clip_grad" in dotted:
        clip(machine, arguments.node, dotted.rpartition(".")[2])
    if "clip_grad_norm" in dotted or dotted.endswith("get_total_norm"):
        place = parameters_place(arguments.get(0, "parameters"))
        return machine.tensor(
            arguments.node, place, clip=True, certain=place is Location.DEVICE, shared=machine.here.gradients.reduced
        )
    if dotted.endswith(".pack_padded_sequence") and device_tensors([arguments.get(0, "input") or NONE]):
        machine.emit(DataShape(arguments.node, machine.context, "pack_padded_sequence()"))
    if dotted.endswith(("pad_sequence", "pack_sequence", "pad_packed_sequence", "pack_padded_sequence")):
        tensors = list(tensors_in(arguments.get(0) or NONE))
        return machine.tensor(arguments.node, location_of(tensors) if tensors else Location.UNKNOWN)
    if "parametrizations" in dotted or dotted.endswith(("weight_norm", "spectral_norm")):
        return arguments.get(0) or UNKNOWN
    return UNKNOWN
