"""torchmetrics: metrics on the device, and which of them read what they are given.

By runs of torchmetrics 1.9 on torch_xla 2.9: an aggregator asks in every `update` and every call whether something is
NaN, twice, unless `nan_strategy="disable"`; no `compute` that is known here reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.locations import device_tensors
from xla_lint.program.domain.values import NONE, Instance, Location, Value
from xla_lint.program.library.devices import place_named
from xla_lint.program.library.registry import function, methods

if TYPE_CHECKING:
    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine

PACKAGE = "torchmetrics."
COLLECTIONS = frozenset({"MetricCollection", "MetricTracker"})
"""What gives a dict of results."""


@function(PACKAGE)
def build_metric(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A metric, with the options that it was given; a function computes at once."""
    if not dotted.rpartition(".")[2][:1].isupper():
        return machine.derived(arguments.node, arguments.values(), grad=False, certain=False)
    return Instance(None, dotted, dict(arguments.keywords), node=arguments.node)


@methods(PACKAGE, "to", "cuda", "cpu", "clone", "train", "eval", "requires_grad_")
def move_metric(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """A metric is moved in place."""
    place = (
        Location.HOST
        if name == "cpu"
        else place_named(arguments.get(0, "device"), machine.backend)
        if name == "to"
        else None
    )
    if place is not None:
        machine.heap.assign(receiver, "place", place)
    return receiver


@methods(PACKAGE, "update", "reset", "__init__", "add_state")
def update_metric(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """What a metric keeps stays on the device."""
    return NONE


@methods(PACKAGE, "__call__", "forward", "compute")
def compute_metric(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """The result is a tensor where the metric lives, or a dict of such tensors."""
    on_device = receiver.place is Location.DEVICE or bool(device_tensors(arguments.values()))
    place = Location.DEVICE if on_device else receiver.place
    several = receiver.library.rpartition(".")[2] in COLLECTIONS
    return machine.tensor(arguments.node, place, unstructured=several, certain=False)
