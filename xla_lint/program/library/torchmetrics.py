"""torchmetrics: metrics on the device, and which of them read what they are given.

By runs of torchmetrics 1.9 on torch_xla 2.9: an aggregator asks in every `update` and every call whether something is
NaN, twice, unless `nan_strategy="disable"`; no `compute` that is known here reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.knowledge.metrics import adds_in_place
from xla_lint.program.domain.definitions import Function
from xla_lint.program.domain.locations import device_tensors
from xla_lint.program.domain.objects import bound_to, library_base, member_of
from xla_lint.program.domain.values import NONE, Instance, Location, Tensor, Text, Value
from xla_lint.program.domain.walk import DATA, found_in
from xla_lint.program.library.devices import place_named
from xla_lint.program.library.registry import function, methods

if TYPE_CHECKING:
    from xla_lint.program.domain.definitions import Class
    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine

PACKAGE = "torchmetrics."
COLLECTIONS = frozenset({"MetricCollection", "MetricTracker"})
"""What gives a dict of results."""
MEMBERS = "*metrics"
"""The attribute that holds the metrics of a collection."""


def keep_no_history(cls: Class) -> None:
    """Let a metric's `update` run without gradients, as torchmetrics does (torchmetrics 1.9)."""
    update = cls.members.get("update")
    if isinstance(update, Function) and library_base(cls).startswith(PACKAGE):
        update.no_grad = True


@function(PACKAGE)
def build_metric(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A metric, with the options that it was given; a function computes at once."""
    if not dotted.rpartition(".")[2][:1].isupper():
        return machine.derived(arguments.node, arguments.values(), grad=False, certain=False)
    place = machine.device.place if adds_in_place(dotted) and stays_where_it_is(arguments.node) else Location.UNKNOWN
    made = Instance(None, dotted, dict(arguments.keywords), place=place, node=arguments.node)
    if dotted.rpartition(".")[2] in COLLECTIONS:
        made.attributes[MEMBERS] = arguments.get(0, "metrics") or NONE
    return made


def members(receiver: Instance) -> list[Instance]:
    """The metrics in a collection."""
    held = receiver.attributes.get(MEMBERS)
    return list(found_in(held, Instance, DATA)) if held is not None else []


def stays_where_it_is(call: nodes.NodeNG) -> bool:
    """Whether a metric is kept under a name that is only asked for its methods: nothing else moves it."""
    statement = call.parent
    target = statement.targets[0] if isinstance(statement, nodes.Assign) and statement.value is call else None
    if not isinstance(target, nodes.AssignName):
        return False
    asked = (name for name in target.scope().nodes_of_class(nodes.Name) if name.name == target.name)
    return all(isinstance(name.parent, nodes.Attribute) or name is getattr(name.parent, "func", None) for name in asked)


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
        for state, value in list(receiver.attributes.items()):
            if isinstance(value, Tensor):
                machine.heap.put(receiver.attributes, state, value.like(place=place))
    for member in members(receiver):
        move_metric(machine, member, name, arguments)
    return receiver


@methods(PACKAGE, "add_state")
def add_state(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """A metric of the project has a state of its own: a tensor, or a list of tensors."""
    state, default = arguments.get(0, "name"), arguments.get(1, "default")
    if isinstance(state, Text) and state.const is not None and default is not None:
        machine.heap.put(receiver.attributes, state.const, default)
    return NONE


@methods(PACKAGE, "update", "reset", "__init__")
def update_metric(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """What a metric keeps stays on the device; a collection updates its metrics."""
    if name == "update":
        for member in members(receiver):
            machine.call(machine.attribute(member, name, arguments.node), arguments)
    return NONE


@methods(PACKAGE, "__call__", "forward", "compute")
def compute_metric(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """The result is a tensor where the metric lives, or a dict of such tensors; a call updates a metric first."""
    update = member_of(receiver.cls, "update") if name != "compute" else None
    if isinstance(update, Function):
        machine.call(bound_to(update, receiver), arguments)
    for member in members(receiver) if name != "compute" else ():
        machine.call(member, arguments)
    on_device = receiver.place is Location.DEVICE or bool(device_tensors(arguments.values()))
    place = Location.DEVICE if on_device else receiver.place
    several = receiver.library.rpartition(".")[2] in COLLECTIONS
    return machine.tensor(arguments.node, place, unstructured=several, certain=False)
