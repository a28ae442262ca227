"""Optimizers: whose parameters they hold, what they step with, and what happened to the gradients before.

Moving a module to an XLA device, or back, gives it new parameters (torch 2.9.1, `Module._apply`: a host tensor and an
XLA tensor cannot swap their data, so a new `Parameter` is made). An optimizer built before goes on updating the old
ones, also after `load_state_dict`, which leaves `param_groups[...]["params"]` alone; seen on torch_xla 2.9.0.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from xla_lint.program.domain.events import ClippedEarly, Condition, OptimizerStep, Outdated
from xla_lint.program.domain.locations import location_of
from xla_lint.program.domain.state import Gradients
from xla_lint.program.domain.values import (
    NONE,
    NUMBER,
    UNKNOWN,
    Function,
    Instance,
    Location,
    Mapping,
    Move,
    Origin,
    Sequence,
    Stream,
    Tensor,
    Value,
    join_all,
    options,
)
from xla_lint.program.library.registry import attributes, function, methods
from xla_lint.program.machine.arguments import Arguments
from xla_lint.program.machine.position import CONSTRUCTORS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from astroid import nodes

    from xla_lint.program.machine.machine import Machine

STEP_HOOKS = ("register_step_pre_hook", "register_step_post_hook")
"""The methods of an optimizer that register functions to run before and after each step."""
DEPTH = 6
"""How deep models in models, and lists in lists, are followed."""
OPTIMIZERS = ("torch.optim.", "torch_xla.amp.syncfree.")
SCHEDULES = "torch.optim.lr_scheduler."


def is_optimizer(value: Value) -> bool:
    """Whether a value is an optimizer; schedules and averaged models are none."""
    if not isinstance(value, Instance) or value.model:
        return False
    library = value.library
    return library.startswith(OPTIMIZERS) and not library.startswith((SCHEDULES, "torch.optim.swa_utils."))


def is_schedule(value: Value) -> bool:
    """Whether a value is a schedule of learning rates."""
    return isinstance(value, Instance) and value.library.startswith(SCHEDULES)


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
    origins = frozenset(Origin(part, len(part.moves), machine.at.entry_point) for part in parts_of(model))
    return Tensor(model.place, certain=model.certain, owner=model, origins=origins)


def gradient_of(parameter: Tensor) -> frozenset[Origin]:
    """The origins of a parameter's gradient."""
    return frozenset(replace(origin, gradient=True) for origin in parameter.origins)


def parameters_in(value: Value | None, depth: int = DEPTH) -> Iterator[Tensor]:
    """The tensors that an optimizer gets: parameters, their names with them, or groups of them."""
    if value is None or depth == 0:
        return
    for option in options(value):
        if isinstance(option, Tensor):
            yield option
        elif isinstance(option, Sequence):
            for item in option.items if option.items is not None else (option.element,):
                yield from parameters_in(item, depth - 1)
        elif isinstance(option, Mapping):
            for entry in (*option.entries.values(), option.element):
                yield from parameters_in(entry, depth - 1)
        elif isinstance(option, Stream):
            for inner in (option.element, option.source, *option.pieces):
                yield from parameters_in(inner, depth - 1)


def origins_of(value: Value | None) -> frozenset[Origin]:
    """The models that parameters come from."""
    return frozenset(origin for tensor in parameters_in(value) for origin in tensor.origins)


def move_parameters(machine: Machine, model: Instance, place: Location, node: nodes.NodeNG) -> None:
    """Note that a move gives a model new parameters, if it does. The model is still in its old place.

    A move under a test that the source does not decide is none: the test may ask where the model is.
    """
    if any(constraint.condition is Condition.SETTING for constraint in machine.here.path_condition):
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


def is_assumed(model: Instance) -> bool:
    """Whether a model, whose construction is not in sight, is only assumed to be on the device."""
    return model.node is None and not model.certain and not model.moves


def groups_of(optimizer: Instance) -> Value:
    """An optimizer's groups of parameters."""
    parameters = join_all(parameters_in(optimizer.attributes.get("params")))
    return Sequence(None, Mapping({"params": Sequence(None, parameters)}, UNKNOWN))


def models_of(parameters: Value) -> set[Instance]:
    """The models whose parameters an optimizer was given."""
    if isinstance(parameters, Tensor):
        return {parameters.owner} if parameters.owner is not None else set()
    inner: list[Value] = []
    if isinstance(parameters, Stream):
        inner = [parameters.element, *parameters.pieces, *([parameters.source] if parameters.source else [])]
    elif isinstance(parameters, Sequence):
        inner = [parameters.element] if parameters.items is None else parameters.items
    elif isinstance(parameters, Mapping):
        inner = [*parameters.entries.values(), *([parameters.element] if parameters.element else [])]
    return {model for value in inner for model in models_of(value)}


def parameters_place(value: Value | None) -> Location:
    """Where parameters live, given in any way that optimizers take."""
    tensors = list(parameters_in(value))
    return location_of(tensors) if tensors else Location.UNKNOWN


def optimizer_place(optimizer: Instance) -> Location:
    """Where the parameters that an optimizer updates live now."""
    places = {model.place for model in models_of(optimizer.attributes.get("params", UNKNOWN))}
    if Location.DEVICE in places or not places:
        return Location.DEVICE if Location.DEVICE in places else optimizer.place
    return Location.HOST if places == {Location.HOST} else optimizer.place


# Steps.


def step(machine: Machine, optimizer: Value, node: nodes.NodeNG) -> None:
    """An optimizer, or one of several, takes its step."""
    for option in options(optimizer):
        if isinstance(option, Instance) and is_optimizer(option):
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


def add_step_hook(machine: Machine, optimizer: Instance, name: str, hook: Value) -> None:
    """Register a function under the name of the method that did."""
    machine.heap.put(optimizer.attributes, name, Sequence([*step_hooks(optimizer, name), hook]))


def step_hooks(optimizer: Instance, name: str) -> list[Value]:
    """What was registered by a method."""
    held = optimizer.attributes.get(name)
    return held.items or [] if isinstance(held, Sequence) else []


def report_outdated(machine: Machine, value: Value, depth: int = 3) -> None:
    """Report the optimizers in a value that hold parameters which their model no longer has."""
    for option in options(value):
        if isinstance(option, Sequence) and depth:
            for item in option.items if option.items is not None else (option.element,):
                report_outdated(machine, item, depth - 1)
        elif isinstance(option, Mapping) and depth:
            for item in option.entries.values():
                report_outdated(machine, item, depth - 1)
        elif isinstance(option, Instance) and is_optimizer(option) and option.node is not None:
            moves = {
                (origin.model.node is not None and origin.model.certain, -move.line)
                for origin in origins_of(option.attributes.get("params"))
                if (move := outdating(machine, origin)) is not None
            }
            if moves:
                certain, line = max(moves)
                machine.emit(Outdated(option.node, machine.context, -line, certain))


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
        machine.here.gradients = replace(gradients, clipped=gradients.clipped | {(node, spelled)})


def reduce(machine: Machine, node: nodes.NodeNG, spelled: str, *, prepared: bool = False) -> None:
    """Gradients are reduced over the replicas; `prepared`: by an optimizer of Accelerate."""
    for clipped, how in machine.here.gradients.clipped:
        machine.emit(ClippedEarly(clipped, machine.context, how, spelled, int(node.lineno or 0), prepared))
    machine.here.gradients = Gradients(computed=True, reduced=True)


# What programs call.


@function(*OPTIMIZERS)
def build_optimizer(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """An optimizer or a schedule."""
    parameters = arguments.get(0, "params")
    return Instance(None, dotted, {"params": parameters or UNKNOWN}, parameters_place(parameters), node=arguments.node)


@methods("torch.optim.", "step")
@methods("torch_xla.amp.syncfree.", "step")
def take_step(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """A step, after the closure that computes the loss anew."""
    closure = arguments.get(0, "closure")
    loss = machine.call(closure, Arguments(arguments.node, [])) if isinstance(closure, Function) else NONE
    if receiver.prepared:
        reduce(machine, arguments.node, "the step of the prepared optimizer", prepared=True)
    step(machine, receiver, arguments.node)
    machine.optimizer_step(arguments.node, optimizer_place(receiver))
    return loss


@methods("torch.optim.", "__init__", "add_param_group")
@methods("torch_xla.amp.syncfree.", "__init__", "add_param_group")
def add_parameters(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """More parameters to update."""
    given = arguments.get(0, "params" if name == "__init__" else "param_group") or UNKNOWN
    held = [receiver.attributes["params"]] if "params" in receiver.attributes else []
    machine.heap.put(receiver.attributes, "params", Sequence([*held, given]))
    machine.heap.assign(receiver, "place", parameters_place(receiver.attributes["params"]))
    return NONE


@methods("torch.optim.")
@methods("torch_xla.amp.syncfree.")
def optimizer_method(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """The other methods of an optimizer."""
    if name == "zero_grad":
        return NONE
    if name == "state_dict":
        groups = Sequence(None, Mapping({}, NUMBER))
        return Mapping({"state": Mapping({}, Mapping({}, Tensor(receiver.place))), "param_groups": groups})
    if name in STEP_HOOKS:
        add_step_hook(machine, receiver, name, arguments.get(0, "hook") or UNKNOWN)
    return UNKNOWN


@attributes("torch.optim.", "torch_xla.amp.syncfree.")
def optimizer_attribute(machine: Machine, receiver: Instance, name: str, node: nodes.NodeNG) -> Value | None:
    """The groups of parameters that live on the device."""
    known = name == "param_groups" and is_optimizer(receiver) and receiver.place is Location.DEVICE
    return groups_of(receiver) if known else None
