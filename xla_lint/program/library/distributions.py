"""`torch.distributions`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.locations import device_tensors
from xla_lint.program.domain.values import Instance, Tensor, Value
from xla_lint.program.domain.walk import tensors_in
from xla_lint.program.library.registry import function, methods

if TYPE_CHECKING:
    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine


@methods("torch.distributions.")
def distribution_method(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """A distribution's methods give tensors where its parameters live."""
    given = [*receiver.attributes.values(), *arguments.values()]
    if name == "sample":
        return machine.derived(arguments.node, given, grad=False)
    return machine.derived(arguments.node, given)


@function("torch.distributions.kl_divergence")
def divergence(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """The divergence of two distributions lives where their parameters do."""
    held = [tensor for value in arguments.values() for tensor in tensors_in(value)]
    return machine.derived(arguments.node, held)


@function("torch.distributions.")
def build_distribution(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A distribution over tensors."""
    parameters: dict[str, Value] = {
        str(position): value for position, value in enumerate(arguments.values()) if isinstance(value, Tensor)
    }
    if device_tensors(arguments.values()):
        for name in ("mean", "scale", "probs", "logits"):
            parameters[name] = machine.derived(arguments.node, arguments.values())
    return Instance(None, dotted, parameters, node=arguments.node)
