"""Functions that run whenever a model does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.definitions import Function
from xla_lint.program.domain.values import NONE, UNKNOWN, Instance, Location, Value
from xla_lint.program.library.registry import methods

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine

WAITING = "*hook "
"""How the attributes begin that hold hooks of a model which is not on the device yet."""


@methods("torch.nn.", "register_forward_pre_hook", "register_forward_hook", "register_full_backward_hook")
def register_hook(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """A function that runs with the model: at once where it is on the device, else when it gets there."""
    hook = arguments.get(0, "hook")
    if not isinstance(hook, Function):
        machine.hand_over(arguments)
    elif receiver.place is Location.DEVICE:
        run_hook(machine, receiver, hook, arguments.node)
    elif receiver.node is not None:
        machine.heap.put(receiver.attributes, f"{WAITING}{len(receiver.attributes)}", hook)
    else:
        machine.hand_over(arguments)
    return UNKNOWN


def run_hook(machine: Machine, model: Instance, hook: Function, node: nodes.NodeNG) -> None:
    """Run a hook as the model does: with itself, and what goes in and out."""
    given = [machine.tensor(node, Location.DEVICE, unstructured=True, certain=False) for _ in range(2)]
    machine.run_hook(hook, [model, *given], node)


def run_waiting_hooks(machine: Machine, model: Instance) -> None:
    """Run the hooks that a model was given before it moved to the device."""
    for name, hook in list(model.attributes.items()):
        if name.startswith(WAITING) and isinstance(hook, Function):
            machine.heap.put(model.attributes, name, NONE)
            run_hook(machine, model, hook, hook.node)
