"""Context managers of libraries: barriers, modes without gradients, progress bars."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from xla_lint.program.domain.events import Autocast
from xla_lint.program.domain.values import UNKNOWN, Device, Instance, Location, Text, Value, options
from xla_lint.program.syntax.names import is_foreign

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.machine.machine import Machine

WITHOUT_GRADIENTS = frozenset({"torch.no_grad", "torch.inference_mode", "torch.set_grad_enabled"})
BARRIERS_AT_EXIT = frozenset({"torch_xla.step", "torch_xla.debug.profiler.StepTrace"})


def enter(machine: Machine, manager: Value, body: Callable[[Value], None], node: nodes.NodeNG) -> None:
    """Run the body of a `with` statement under a context manager that the project does not define."""
    library = manager.library if isinstance(manager, Instance) else ""
    devices = [option for option in options(manager) if isinstance(option, Device)]
    if devices:
        around = machine.here.device
        machine.here.device = next((device for device in devices if device.place is Location.DEVICE), devices[0])
        body(manager)
        if machine.at.state is not None:
            machine.at.state.device = around
    elif library in WITHOUT_GRADIENTS:
        before = machine.here.grad
        machine.here.grad = False
        body(UNKNOWN)
        if machine.at.state is not None:
            machine.at.state.grad = before
    elif library in BARRIERS_AT_EXIT:
        if library == "torch_xla.step":
            machine.barrier(node, "torch_xla.step", silent=True)
        body(UNKNOWN)
        if machine.at.state is not None:
            machine.barrier(node, library.replace("torch_xla.debug.profiler", "xp"), silent=True)
    elif isinstance(manager, Instance) and library == "torch.autocast":
        context, recorded = machine.context, machine.operations
        body(UNKNOWN)
        kind = manager.attributes.get("device")
        if isinstance(kind, Text) and manager.node is not None and machine.operations > recorded:
            machine.emit(Autocast(manager.node, context, str(kind.const)))
    else:
        if manager is UNKNOWN or (library and not is_foreign(library)):
            machine.opaque()
        body(manager)
