"""Models of torchvision and timm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.locations import device_tensors
from xla_lint.program.domain.values import UNKNOWN, Instance, Value
from xla_lint.program.library.networks import run_model
from xla_lint.program.library.registry import ANY_MODEL, METHODS, function, methods

if TYPE_CHECKING:
    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine

VISION = "torchvision.models"
"""A model of torchvision or timm: methods that are given tensors are parts of it, or run them."""
QUESTIONS = frozenset({"list_models", "get_weight", "get_model_weights", "get_model_builder"})


@function("torchvision.models.", "timm.create_model")
def build(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A model of torchvision or timm."""
    if "_Weights" in dotted or dotted.rpartition(".")[2] in QUESTIONS:
        return UNKNOWN
    return Instance(None, VISION, model=True, node=arguments.node)


@methods(VISION)
def method(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """What any model does; a method besides that is given tensors is a part of the model, or runs it."""
    known = METHODS.find(ANY_MODEL, name)
    result = known(machine, receiver, name, arguments) if known is not None else None
    if result is None and device_tensors(arguments.values()):
        return run_model(machine, receiver, arguments)
    return result
