"""What writes values to files: `torch.save`, torch_xla's own ways to save, and trackers that watch a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.contents import place_in
from xla_lint.program.domain.events import Save
from xla_lint.program.domain.values import NONE, UNKNOWN, Value
from xla_lint.program.domain.walk import tensors_in
from xla_lint.program.library.registry import function
from xla_lint.program.machine.machine import source_of

if TYPE_CHECKING:
    from xla_lint.program.machine.machine import Arguments, Machine

SAVES = {
    "torch.save": ("torch.save", "obj"),
    "torch_xla.core.xla_model.save": ("xm.save", "data"),
    "torch_xla.utils.serialization.save": ("xser.save", "data"),
    "wandb.watch": ("wandb.watch", "models"),
}
"""How each is spelled, and the parameter that takes the values."""


@function(*SAVES)
def save(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Values are saved."""
    spelled, parameter = SAVES[dotted]
    value, node = arguments.get(0, parameter) or UNKNOWN, arguments.node_of(0, parameter)
    place, certain = place_in(value)
    collective = any(tensor.collective and machine.is_pending(tensor) for tensor in tensors_in(value))
    what = source_of(node) if node is not None else "the values"
    machine.emit(Save(arguments.node, machine.context, spelled, what, place, certain, collective))
    return NONE
