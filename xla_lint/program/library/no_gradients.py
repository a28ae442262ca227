"""Modes without gradients, and the other modes of torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.definitions import Function
from xla_lint.program.domain.events import InferenceMode
from xla_lint.program.domain.values import UNKNOWN, Instance, Number, Value
from xla_lint.program.library.registry import function, manager, methods

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.library.registry import Body
    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine

INFERENCE_MODE = "torch.inference_mode"
WITHOUT = ("torch.no_grad", "torch.inference_mode", "torch.set_grad_enabled")


@function(*WITHOUT, "torch.enable_grad", "torch.autograd.detect_anomaly", "torch.autograd.profiler.")
def mode(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A context manager; `no_grad()(f)` decorates too."""
    made = Instance(None, dotted, node=arguments.node)
    given = arguments.get(0, "mode")
    if not (isinstance(given, Number) and given.const is False):
        made.attributes["on"] = Number(True)
    return made


@manager(*WITHOUT)
def without_gradients(machine: Machine, mode: Instance, body: Body, node: nodes.NodeNG) -> None:
    """What the body computes has no history."""
    if machine.at.compiled is not None and mode.library == INFERENCE_MODE and mode.node is not None and mode.attributes:
        machine.emit(InferenceMode(node, machine.context, node.parent or node))
    before = machine.here.grad
    machine.here.grad = False
    body(UNKNOWN)
    if machine.at.state is not None:
        machine.at.state.grad = before


@methods("torch.no_grad", "__call__")
@methods("torch.inference_mode", "__call__")
@methods("torch.set_grad_enabled", "__call__")
@methods("torch.enable_grad", "__call__")
def decorate(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """A mode used as a decorator."""
    value = arguments.get(0)
    if not isinstance(value, Function):
        return None
    value.no_grad = receiver.library != "torch.enable_grad"
    if receiver.library == INFERENCE_MODE and value.compilation is None and receiver.attributes:
        value.inference = receiver.node
    return value
