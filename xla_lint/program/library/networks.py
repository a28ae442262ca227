"""`torch.nn`: what its modules are and do, and any model of which no more is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import Transfer
from xla_lint.program.domain.join import choose
from xla_lint.program.domain.locations import device_tensors, location_of
from xla_lint.program.domain.module_classes import holds_parts
from xla_lint.program.domain.objects import COMPILED_MODEL, is_assumed
from xla_lint.program.domain.values import (
    FACT,
    MATERIALISED,
    NO_TENSOR,
    NONE,
    NUMBER,
    TEXT,
    UNKNOWN,
    Device,
    Instance,
    Kind,
    Location,
    Mapping,
    Name,
    Number,
    Stream,
    Tensor,
    Text,
    Value,
    options,
)
from xla_lint.program.domain.walk import tensors_in
from xla_lint.program.library.devices import place_named
from xla_lint.program.library.model_hooks import run_waiting_hooks
from xla_lint.program.library.module_lists import CONTAINERS, fill
from xla_lint.program.library.optimizers import DEPTH, inside, move_parameters, parameter_of
from xla_lint.program.library.registry import attributes, function, iteration, methods
from xla_lint.program.machine.arguments import Arguments

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.domain.loops import Loop
    from xla_lint.program.machine.machine import Machine


@function("torch.nn.")
def build_module(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A library module."""
    last = dotted.rpartition(".")[2]
    if not last[:1].isupper():
        machine.hand_over(arguments)
        return UNKNOWN
    made_on = machine.device
    module = Instance(None, dotted, place=made_on.place, model=True, certain=made_on.certain, node=arguments.node)
    if dotted in CONTAINERS:
        fill(machine, module, arguments)
    place = place_named(arguments.keywords.get("device"), machine.backend)
    if place is not None:
        module.place = place
    for value in arguments.values():
        if isinstance(value, Instance) and value.model and "Parallel" in last:
            return value
    return module


ANY = "torch.nn.Module"
PARAMETERS = frozenset({"weight", "bias", "in_proj_weight", "in_proj_bias", "running_mean", "running_var"})
"""The tensors that layers keep under these names."""
WITHOUT_RESULT = frozenset({"__init__", "zero_grad", "load_state_dict", "gradient_checkpointing_enable"})
CHAINING = frozenset({"requires_grad_", "half", "float", "bfloat16", "double", "share_memory", "type"})
MODULES_INSIDE = frozenset(
    {"get_submodule", "get_input_embeddings", "get_output_embeddings", "get_encoder", "get_decoder", "get_base_model"}
)
"""Methods that give a part of a model."""
VERBS = (
    "_", "add_", "can_", "compute_", "create_", "disable_", "enable_", "freeze_", "from_", "get_", "init_", "load_",
    "log", "on_", "post_", "prepare_", "push_", "resize_", "save_", "set_", "tie_", "toggle_", "update_", "warn_",
)  # fmt: skip
"""How the names of methods begin that run no part of a model."""


def any_module(machine_place: Location) -> Instance:
    """Some module of a model, which lives where the model does."""
    return Instance(None, ANY, place=machine_place, model=True, certain=False)


@methods("torch.nn.", "__call__", "forward")
def call_model(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """Calling a model whose `forward` is not in sight."""
    return run_model(machine, receiver, arguments)


@methods("torch.nn.", "to", "cuda", "cpu", "xpu", "to_empty")
def move_model(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """A model is moved in place; where it cannot be told where to, it stays."""
    target = arguments.get(0, "device")
    place = {"cuda": Location.UNKNOWN, "cpu": Location.HOST}.get(name) or place_named(target, machine.backend)
    if place is not None and not isinstance(target, Name):
        certain = not (isinstance(target, Device) and not target.certain)
        cast = len(arguments.positional) > 1 or "dtype" in arguments.keywords
        machine.emit(Transfer(arguments.node, machine.context, receiver, receiver.place, place, certain, cast))
        move_parameters(machine, receiver, place, arguments.node)
        place_model(machine, receiver, place, certain)
    return receiver


@methods("torch.nn.", "train", "eval")
def switch_mode(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """A model is set to train, or not to."""
    mode = Number(False, traits=FACT) if name == "eval" else arguments.get(0, "mode") or Number(True, traits=FACT)
    set_mode(machine, receiver, mode)
    return receiver


@methods("torch.nn.", "parameters", "buffers", "named_parameters", "named_buffers", "state_dict")
def parameters(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """A model's parameters and buffers."""
    parameter = parameter_of(machine, receiver)
    if name == "state_dict":
        return Mapping({}, parameter)
    return Stream(UNKNOWN, pieces=(Stream(TEXT), Stream(parameter))) if name.startswith("named_") else Stream(parameter)


@methods("torch.nn.", "modules", "children", "named_modules", "named_children", *MODULES_INSIDE)
def modules_inside(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """Modules inside a model."""
    module = any_module(receiver.place)
    if name in MODULES_INSIDE:
        return module
    return Stream(UNKNOWN, pieces=(Stream(TEXT), Stream(module))) if name.startswith("named_") else Stream(module)


@methods("torch.nn.", "register_buffer", "register_parameter", "add_module", "register_module")
def add_member(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """A member by its name."""
    key, value = arguments.get(0), arguments.get(1)
    if isinstance(key, Text) and key.const is not None and value is not None:
        machine.heap.put(receiver.attributes, key.const, value)
    return NONE


@methods("torch.nn.", "apply")
def apply_to_modules(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """A function runs on every module."""
    given = arguments.get(0, "fn") or UNKNOWN
    for model in (*inside(receiver), receiver):
        machine.call(given, Arguments(arguments.node, [model]))
    return receiver


@methods("torch.nn.")
def model_method(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """The other methods of a model."""
    if name in CHAINING:
        return receiver
    if name in WITHOUT_RESULT:
        return NONE
    if name.startswith("register_") and name.endswith("hook"):
        machine.hand_over(arguments)
        return UNKNOWN
    if receiver.cls is None and receiver.library == ANY and device_tensors(arguments.values()):
        return run_method(machine, receiver, arguments)
    if holds_parts(receiver.library) and runs_part(machine, receiver, name, arguments):
        result = run_model(machine, receiver, arguments)
        return result.like(certain=False) if isinstance(result, Tensor) else result
    return None


def runs_part(machine: Machine, model: Instance, name: str, arguments: Arguments) -> bool:
    """Whether a method of a ready-made model, under a name without a verb, is a part of it that is called.

    It is given tensors, or what is not known in the `forward` of a model on the device.
    """
    if name.startswith(VERBS):
        return False
    hidden = UNKNOWN in arguments.values() or arguments.unpacked
    inside = hidden and machine.at.in_forward and model.place is Location.DEVICE
    return inside or bool(device_tensors(arguments.values()))


def run_method(machine: Machine, model: Instance, arguments: Arguments) -> Value:
    """The result of a method of a model whose class is not in sight: it runs the model, and may do anything besides."""
    result = run_model(machine, model, arguments)
    machine.opaque()
    return perhaps(result)


def perhaps(value: Value) -> Value:
    """What may be a tensor, or else something that is none: only what it is asked for tells."""
    return choose([value, NO_TENSOR])


@attributes("torch.nn.")
def model_attribute(machine: Machine, receiver: Instance, name: str, node: nodes.NodeNG) -> Value | None:
    """Attributes that any model has, and the tensors of layers."""
    if name == "training":
        return NUMBER
    if name == "module" and receiver.cls is not None:
        return receiver
    if name == "device":
        return Device(receiver.place, receiver.certain)
    if name in PARAMETERS and (receiver.cls is None or receiver.library):
        return Tensor(receiver.place, certain=receiver.certain)
    return None


@iteration("torch.nn.")
def iterate_model(machine: Machine, receiver: Instance, loop: Loop | None, node: nodes.NodeNG) -> Value | None:
    """The modules of a container."""
    return receiver.attributes.get("*") or any_module(receiver.place)


def place_model(machine: Machine, model: Instance, place: Location, certain: bool = True, depth: int = DEPTH) -> None:
    """Move a model and the models inside it."""
    machine.heap.assign(model, "place", place)
    if place is Location.DEVICE:
        run_waiting_hooks(machine, model)
    if not certain:
        machine.heap.assign(model, "certain", False)
    if depth == 0:
        return
    for inner in inside(model):
        place_model(machine, inner, place, certain, depth - 1)
    for name, value in list(model.attributes.items()):
        if isinstance(value, Tensor) and value.place is not place:
            machine.heap.put(model.attributes, name, value.like(place=place))


def set_mode(machine: Machine, model: Instance, mode: Value, depth: int = DEPTH) -> None:
    """Set a model, and the models inside it, to train or not."""
    machine.heap.put(model.attributes, "training", mode)
    for inner in inside(model) if depth else ():
        set_mode(machine, inner, mode, depth - 1)


def run_model(machine: Machine, model: Instance, arguments: Arguments) -> Value:
    """The output of a model whose `forward` is not in sight: tensors, on the device if an input or the model is."""
    tensors = [t for value in arguments.values() for t in tensors_in(value, 2)]
    place = location_of(tensors) if tensors else Location.UNKNOWN
    if place is Location.UNKNOWN and model.place is not Location.UNKNOWN:
        place = model.place
    on_host = bool(tensors) and all(t.place is Location.HOST and t.certain for t in tensors)
    if model.place is Location.DEVICE and not (is_assumed(model) and on_host):
        place = Location.DEVICE
    if place is Location.DEVICE:
        if not machine.at.in_forward:
            machine.forward(arguments.node, model)
        if model.library == COMPILED_MODEL:
            machine.barrier(arguments.node, COMPILED_MODEL, silent=True)
    chain = chain_of(model)
    if chain:
        return run_chain(machine, chain, arguments)
    layer = model.library.startswith("torch.nn.") and model.library != "torch.nn.Module"
    length = tensors[0].length if layer and tensors and "Loss" not in model.library else None
    output = machine.tensor(
        arguments.node,
        place,
        grad=machine.here.grad,
        unstructured=not layer,
        certain=model.certain and all(t.certain for t in tensors),
        length=length,
        kind=Kind.UNKNOWN,
    )
    return output.like(recorded_in=MATERIALISED) if model.library == COMPILED_MODEL else output


def chain_of(model: Instance) -> list[Instance]:
    """The modules that a `Sequential` runs one after the other; empty where none of them is of the project."""
    if model.library != "torch.nn.Sequential":
        return []
    numbered = [value for name, value in model.attributes.items() if name.isdigit()]
    held = [options(value) for value in numbered or [model.attributes.get("*", UNKNOWN)]]
    chain = [value for found in held for value in found[-1:] if isinstance(value, Instance)]
    return chain if any(module.cls is not None or chain_of(module) for module in chain) else []


def run_chain(machine: Machine, chain: list[Instance], arguments: Arguments) -> Value:
    """The output of modules of which each takes what the one before gives."""
    given = arguments
    with machine.elsewhere(in_forward=True):
        for module in chain:
            given = Arguments(arguments.node, [machine.call_instance(module, given)])
    return given.positional[0]
