"""Helpers that work on every tensor of a nested container: they move a batch, or call a function on each part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.values import NONE, UNKNOWN, Value
from xla_lint.program.domain.walk import OBJECTS, changed
from xla_lint.program.library.registry import function
from xla_lint.program.machine.arguments import Arguments

if TYPE_CHECKING:
    from xla_lint.program.machine.machine import Machine

MOVING = {
    "accelerate.utils.send_to_device": (0, "tensor", 1, "device"),
    "accelerate.utils.operations.send_to_device": (0, "tensor", 1, "device"),
    "lightning.fabric.utilities.move_data_to_device": (0, "batch", 1, "device"),
    "lightning.fabric.utilities.apply_func.move_data_to_device": (0, "batch", 1, "device"),
    "lightning.utilities.move_data_to_device": (0, "batch", 1, "device"),
    "lightning.utilities.apply_func.move_data_to_device": (0, "batch", 1, "device"),
    "lightning_fabric.utilities.move_data_to_device": (0, "batch", 1, "device"),
    "lightning_fabric.utilities.apply_func.move_data_to_device": (0, "batch", 1, "device"),
    "ignite.utils.convert_tensor": (0, "x", 1, "device"),
}
"""Functions that move every tensor: the positions and names of the container and of the device."""
MAPPING = {
    "torch.utils._pytree.tree_map": (0, "func", 1, "tree"),
    "torch.utils._pytree.tree_map_": (0, "func", 1, "tree"),
    "torch.utils._pytree.tree_map_only": (1, "func", 2, "tree"),
    "torch.utils._pytree.tree_map_only_": (1, "func", 2, "tree"),
    "torch.utils._cxx_pytree.tree_map": (0, "func", 1, "tree"),
    "optree.tree_map": (0, "func", 1, "tree"),
    "tree.map_structure": (0, "func", 1, "tree"),
    "accelerate.utils.recursively_apply": (0, "func", 1, "data"),
    "accelerate.utils.operations.recursively_apply": (0, "func", 1, "data"),
    "lightning_utilities.core.apply_func.apply_to_collection": (2, "function", 0, "data"),
    "lightning.utilities.apply_func.apply_to_collection": (2, "function", 0, "data"),
    "lightning.fabric.utilities.apply_func.apply_to_collection": (2, "function", 0, "data"),
    "lightning_fabric.utilities.apply_func.apply_to_collection": (2, "function", 0, "data"),
}
"""Functions that call another one on every tensor: the positions and names of that one and of the container."""


@function(*MOVING)
def move(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Every tensor is moved as its own `to` moves it."""
    first, named, second, device_named = MOVING[dotted]
    value, device = arguments.get(first, named) or UNKNOWN, arguments.get(second, device_named) or NONE
    given = Arguments(arguments.node, [device])
    return changed(value, lambda part: machine.method(part, "to", given), OBJECTS)


@function(*MAPPING)
def apply(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A function is called on every part."""
    first, named, second, tree_named = MAPPING[dotted]
    called, tree = arguments.get(first, named) or UNKNOWN, arguments.get(second, tree_named) or UNKNOWN
    return changed(tree, lambda part: machine.call(called, Arguments(arguments.node, [part])), OBJECTS)
