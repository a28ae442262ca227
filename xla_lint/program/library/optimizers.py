"""Optimizers: whose parameters they hold, what they step with, and what happened to the gradients before.

Moving a module to an XLA device, or back, gives it new parameters (torch 2.9.1, `Module._apply`: a host tensor and an
XLA tensor cannot swap their data, so a new `Parameter` is made). An optimizer built before goes on updating the old
ones, also after `load_state_dict`, which leaves `param_groups[...]["params"]` alone; seen on torch_xla 2.9.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend.backend import Property
from xla_lint.program.domain.contexts import Condition
from xla_lint.program.domain.definitions import Function
from xla_lint.program.domain.events import ClippedEarly, OptimizerStep, Outdated
from xla_lint.program.domain.join import join_all
from xla_lint.program.domain.locations import location_of
from xla_lint.program.domain.objects import OPTIMIZERS, bound_to, is_assumed, is_optimizer, member_of
from xla_lint.program.domain.state import NO_GRADIENTS, Gradients
from xla_lint.program.domain.values import (
    NONE,
    NUMBER,
    UNKNOWN,
    Instance,
    Location,
    Mapping,
    Move,
    Number,
    Origin,
    Sequence,
    Tensor,
    Value,
    options,
)
from xla_lint.program.domain.walk import DATA, EVERYTHING, ITERABLES, found_in
from xla_lint.program.library.registry import attributes, function, methods_of_each
from xla_lint.program.machine.arguments import Arguments
from xla_lint.program.machine.position import CONSTRUCTORS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from astroid import nodes

    from xla_lint.program.machine.machine import Machine

STEP_HOOKS = ("register_step_pre_hook", "register_step_post_hook")
"""The methods of an optimizer that register functions to run before and after each step."""
KEPT = "*state"
"""The attribute that holds an optimizer's `state`, which it keeps for each parameter, where the program asks for it."""
WRAPPED = "*wrapped"
"""The attribute of an optimizer that Accelerate has prepared which holds the one it was made of."""
REACH = 3
"""How deep objects are looked into for what holds gradients."""
DEPTH = 6
"""How deep models in models, and lists in lists, are followed."""

# Parameters.


def inside(model: Instance) -> list[Instance]:
    """The models that a model holds, by whatever path."""
    held = [option for value in model.attributes.values() for option in options(value)]
    return [value for value in held if isinstance(value, Instance) and value.model and value is not model]


def parts_of(model: Instance, depth: int = DEPTH) -> Iterator[Instance]:
    """The modules that hold a model's parameters: those inside it, or itself where none is in sight."""
    held = inside(model)
    own = any(isinstance(option, Tensor) for value in model.attributes.values() for option in options(value))
    if not held or depth == 0 or own:
        yield model
    if depth:
        for value in held:
            yield from parts_of(value, depth - 1)


def parameter_of(machine: Machine, model: Instance) -> Tensor:
    """Any parameter of a model."""
    origins = frozenset(Origin(model, part, len(part.moves), machine.at.entry_point) for part in parts_of(model))
    return Tensor(model.place, certain=model.certain, origins=origins)


def gradient_of(parameter: Tensor) -> frozenset[Origin]:
    """The origins of a parameter's gradient."""
    return frozenset(origin._replace(gradient=True) for origin in parameter.origins)


def parameters_in(value: Value | None) -> Iterable[Tensor]:
    """The tensors that an optimizer gets: parameters, their names with them, or groups of them."""
    return found_in(value, Tensor, ITERABLES, DEPTH) if value is not None else ()


def origins_of(value: Value | None) -> frozenset[Origin]:
    """Where parameters come from."""
    return frozenset(origin for tensor in parameters_in(value) for origin in tensor.origins)


def move_parameters(machine: Machine, model: Instance, place: Location, node: nodes.NodeNG) -> None:
    """Note that a move gives a model new parameters, if it does. The model is still in its old place.

    A move under a test that the source does not decide is none: the test may ask where the model is.
    """
    if any(constraint.condition is Condition.SETTING for constraint in machine.here.path_condition):
        return
    if not machine.backend.has(Property.REPLACES_PARAMETERS):
        return
    for part in parts_of(model):
        if replaces(part, place):
            machine.heap.assign(
                part, "moves", (*part.moves, Move(int(node.lineno or 0), place, machine.at.entry_point))
            )


def replaces(model: Instance, place: Location) -> bool:
    """Whether a move to a place gives a model new parameters."""
    if place is Location.DEVICE:
        return model.place is not Location.DEVICE or is_assumed(model)
    return place is Location.HOST and model.place is Location.DEVICE


def groups_of(optimizer: Instance) -> Value:
    """The groups of parameters of an optimizer on the device: they live there since it or a framework moved them."""
    known = list(parameters_in(optimizer.attributes.get("params"))) or [Tensor(Location.DEVICE, certain=False)]
    moved = (t if t.place is Location.DEVICE else t.like(place=Location.DEVICE, certain=False) for t in known)
    parameters = join_all(moved)
    return Sequence(None, Mapping({"params": Sequence(None, parameters)}, UNKNOWN))


def models_of(parameters: Value | None) -> set[Instance]:
    """The models whose parameters an optimizer was given."""
    return {origin.asked for origin in origins_of(parameters)}


def parameters_place(value: Value | None) -> Location:
    """Where parameters live, given in any way that optimizers take."""
    tensors = list(parameters_in(value))
    return location_of(tensors) if tensors else Location.UNKNOWN


def optimizer_place(optimizer: Instance) -> Location:
    """Where the parameters that an optimizer updates live now."""
    places = {model.place for model in models_of(optimizer.attributes.get("params"))}
    if Location.DEVICE in places or not places:
        return Location.DEVICE if Location.DEVICE in places else optimizer.place
    return Location.HOST if places == {Location.HOST} else optimizer.place


def holds_gradients(value: Value) -> bool:
    """Whether gradients can be reached from a value: it is or holds a model, an optimizer or parameters of a model."""
    if any(held.model or is_optimizer(held) for held in found_in(value, Instance, EVERYTHING, REACH)):
        return True
    return bool(origins_of(value))


# Steps.


def step(machine: Machine, optimizer: Value, node: nodes.NodeNG) -> None:
    """An optimizer, or one of several, takes its step."""
    for option in options(optimizer):
        if is_optimizer(option):
            before, after = STEP_HOOKS
            given = Arguments(node, [option, Sequence([], frozen=True), Mapping({})])
            for hook in step_hooks(option, before):
                machine.call(hook, given)
            gradients = machine.here.gradients
            unreduced = gradients.placed and not gradients.reduced
            machine.emit(OptimizerStep(node, machine.context, option, not unreduced))
            report_outdated(machine, option)
            for hook in step_hooks(option, after):
                machine.call(hook, given)


def run_step(machine: Machine, optimizer: Instance, arguments: Arguments) -> None:
    """Let something step an optimizer: by the project's own method where its class has one."""
    own = member_of(optimizer.cls, "step")
    if isinstance(own, Function):
        machine.call(bound_to(own, optimizer), arguments)
    else:
        step(machine, optimizer, arguments.node)


def step_every_turn(machine: Machine, value: Value, node: nodes.NodeNG) -> None:
    """Let a framework, which has moved the model to the device, step the optimizers in a value every step."""
    for optimizer in found_in(value, Instance, DATA):
        own = member_of(optimizer.cls, "step") if is_optimizer(optimizer) else None
        if isinstance(own, Function):
            machine.heap.assign(optimizer, "place", Location.DEVICE)
            machine.heap.assign(optimizer, "certain", False)
            machine.run_hook(bound_to(own, optimizer), [], node)


def add_step_hook(machine: Machine, optimizer: Instance, name: str, hook: Value) -> None:
    """Register a function under the name of the method that did."""
    machine.heap.put(optimizer.attributes, name, Sequence([*step_hooks(optimizer, name), hook]))


def step_hooks(optimizer: Instance, name: str) -> list[Value]:
    """What was registered by a method."""
    held = optimizer.attributes.get(name)
    return held.items or [] if isinstance(held, Sequence) else []


def report_outdated(machine: Machine, value: Value) -> None:
    """Report the optimizers in a value that hold parameters which their model no longer has."""
    for optimizer in found_in(value, Instance, DATA):
        if is_optimizer(optimizer) and optimizer.node is not None:
            moves = {
                (origin.model.node is not None and origin.model.certain, -move.line)
                for origin in origins_of(optimizer.attributes.get("params"))
                if (move := outdating(machine, origin)) is not None
            }
            if moves:
                certain, line = max(moves)
                machine.emit(Outdated(optimizer.node, machine.context, -line, certain))


def outdating(machine: Machine, origin: Origin) -> Move | None:
    """The move that replaced the parameters of an origin, where it is sure to have come after them.

    Functions without a caller in sight may be called in any order. Only constructors come before all else.
    """
    for move in origin.model.moves[origin.moves :]:
        after = origin.entry in (move.entry, CONSTRUCTORS)
        if after and (move.place is Location.DEVICE or move.entry == machine.at.entry_point):
            return move
    return None


# Gradients.


def clip(machine: Machine, node: nodes.NodeNG, spelled: str) -> None:
    """Gradients are clipped or unscaled."""
    gradients = machine.here.gradients
    if gradients.computed and not gradients.reduced:
        machine.here.gradients = gradients._replace(clipped=gradients.clipped | {(node, spelled)})
    note_graded(machine)


def reduce(machine: Machine, node: nodes.NodeNG, spelled: str, *, prepared: bool = False) -> None:
    """Gradients are reduced over the replicas; `prepared`: by Accelerate, if they were not reduced before."""
    if prepared and not machine.here.gradients.reduced:
        machine.collective(node, spelled)
    for clipped, how in machine.here.gradients.clipped:
        machine.emit(ClippedEarly(clipped, machine.context, how, spelled, node, prepared))
    machine.here.gradients = Gradients(computed=True, reduced=True)
    note_graded(machine)


def note_graded(machine: Machine) -> None:
    """Note that gradients were changed here."""
    if machine.graded is not None:
        machine.graded = max(machine.here.epochs)


# What programs call.


@function(*OPTIMIZERS)
def build_optimizer(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """An optimizer or a schedule."""
    parameters = arguments.get(0, "params")
    return Instance(None, dotted, {"params": parameters or UNKNOWN}, parameters_place(parameters), node=arguments.node)


def is_built_like_one(dotted: str, arguments: Arguments) -> bool:
    """Whether a class of another library is an optimizer: it is given a model's parameters and a learning rate.

    A class that a package or module for optimizers holds needs no rate.
    """
    module, _, name = dotted.rpartition(".")
    if not name[:1].isupper() or not origins_of(arguments.get(0, "params")):
        return False
    rate = arguments.get(1, "lr")
    return isinstance(rate, Number) or "lr" in arguments.keywords or "optim" in module.lower()


def build_other_optimizer(arguments: Arguments) -> Instance:
    """An optimizer of another library."""
    parameters = arguments.get(0, "params") or UNKNOWN
    held: dict[str, Value] = {"params": parameters}
    return Instance(None, "torch.optim.Optimizer", held, parameters_place(parameters), node=arguments.node)


@methods_of_each(OPTIMIZERS, "step")
def take_step(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """A step, after the closure that computes the loss anew."""
    closure = arguments.get(0, "closure")
    loss = machine.call(closure, Arguments(arguments.node, [])) if isinstance(closure, Function) else NONE
    if receiver.prepared:
        reduce(machine, arguments.node, "the step of the prepared optimizer", prepared=True)
    inner = receiver.attributes.get(WRAPPED)
    run_step(machine, inner if receiver.prepared and isinstance(inner, Instance) else receiver, arguments)
    machine.optimizer_step(arguments.node, optimizer_place(receiver))
    return loss


@methods_of_each(OPTIMIZERS, "__init__", "add_param_group")
def add_parameters(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """More parameters to update."""
    given = arguments.get(0, "params" if name == "__init__" else "param_group") or UNKNOWN
    held = [receiver.attributes["params"]] if "params" in receiver.attributes else []
    machine.heap.put(receiver.attributes, "params", Sequence([*held, given]))
    machine.heap.assign(receiver, "place", parameters_place(receiver.attributes["params"]))
    return NONE


@methods_of_each(OPTIMIZERS)
def optimizer_method(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """The other methods of an optimizer."""
    if name == "zero_grad":
        if machine.here.gradients.reduced:
            machine.here.gradients = NO_GRADIENTS
        return NONE
    if name == "state_dict":
        groups = Sequence(None, Mapping({}, NUMBER))
        return Mapping({"state": Mapping({}, Mapping({}, Tensor(receiver.place))), "param_groups": groups})
    if name in STEP_HOOKS:
        add_step_hook(machine, receiver, name, arguments.get(0, "hook") or UNKNOWN)
    return UNKNOWN


@attributes(*OPTIMIZERS)
def optimizer_attribute(machine: Machine, receiver: Instance, name: str, node: nodes.NodeNG) -> Value | None:
    """The groups of parameters that live on the device, and what an optimizer keeps for each parameter."""
    if name == "state" and is_optimizer(receiver) and receiver.cls is None:
        inner = receiver.attributes.get(WRAPPED)
        owner = inner if isinstance(inner, Instance) else receiver
        return owner.attributes.setdefault(KEPT, Mapping({}, Mapping({})))
    known = name == "param_groups" and is_optimizer(receiver) and receiver.place is Location.DEVICE
    return groups_of(receiver) if known else None
