"""Mixed precision: `autocast` and gradient scalers, of torch and of backends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend import device_types, names
from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.contexts import Condition
from xla_lint.program.domain.definitions import Function
from xla_lint.program.domain.events import Autocast
from xla_lint.program.domain.values import (
    NONE,
    NUMBER,
    UNKNOWN,
    Instance,
    Mapping,
    Number,
    Sequence,
    Tensor,
    Text,
    Value,
    options,
)
from xla_lint.program.library.optimizers import clip, step
from xla_lint.program.library.registry import function, manager, methods, methods_of_each

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.library.registry import Body
    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine

AUTOCAST = "torch.autocast"
CUDA_AUTOCAST = "torch.cuda.amp.autocast"
SCALER = "torch.amp.GradScaler"
OWN_SCALERS = names(Role.SCALER)


@function(AUTOCAST, "torch.amp.autocast", CUDA_AUTOCAST)
def autocast(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A region of mixed precision for one kind of device."""
    cuda = dotted == CUDA_AUTOCAST
    kind = Text("cuda") if cuda else arguments.get(0, "device_type")
    enabled = arguments.get(0 if cuda else 2, "enabled")
    made = Instance(None, AUTOCAST, node=arguments.node)
    off = isinstance(enabled, Number) and enabled.const is not None and not enabled.const
    if (
        isinstance(kind, Text)
        and kind.const is not None
        and kind.const not in device_types(machine.backend)
        and not off
    ):
        made.attributes["device"] = kind
        made.optional = enabled is not None and not (isinstance(enabled, Number) and bool(enabled.const))
    return made


@methods(AUTOCAST)
def decorate(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """The region as a decorator."""
    value = arguments.get(0)
    if name != "__call__" or not isinstance(value, Function):
        return None
    kind = receiver.attributes.get("device")
    if isinstance(kind, Text) and receiver.node is not None:
        machine.emit(Autocast(receiver.node, machine.context, str(kind.const), receiver.optional))
    return value


@manager(AUTOCAST)
def enter(machine: Machine, region: Instance, body: Body, node: nodes.NodeNG) -> None:
    """The body's operations are recorded in another precision."""
    context, recorded = machine.context, machine.operations
    body(UNKNOWN)
    kind = region.attributes.get("device")
    if isinstance(kind, Text) and region.node is not None and machine.operations > recorded:
        machine.emit(Autocast(region.node, context, str(kind.const), region.optional))


@function(SCALER, "torch.cuda.amp.GradScaler", *OWN_SCALERS)
def scaler(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A gradient scaler."""
    library = dotted if dotted in OWN_SCALERS else SCALER
    optional = any(constraint.condition is Condition.SETTING for constraint in machine.here.path_condition)
    return Instance(None, library, dict(arguments.keywords), node=arguments.node, optional=optional)


@methods_of_each((SCALER, *OWN_SCALERS))
def scaler_method(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """A scaler multiplies losses, and steps an optimizer if the gradients are finite."""
    value = arguments.get(0) or UNKNOWN
    if name == "scale":
        if isinstance(value, Sequence):
            return value
        tensors = [option for option in options(value) if isinstance(option, Tensor)]
        return machine.derived(arguments.node, tensors) if tensors else UNKNOWN
    if name == "unscale_":
        clip(machine, arguments.node, "unscale_")
        return NONE
    if name == "step":
        step(machine, value, arguments.node)
        for option in options(value):
            if isinstance(option, Instance):
                machine.optimizer_step(arguments.node, option.place)
        return NONE
    if name == "state_dict":
        return Mapping({}, NUMBER)
    return NUMBER if name in ("get_scale", "is_enabled", "get_growth_interval") else NONE
