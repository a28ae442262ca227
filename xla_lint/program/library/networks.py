"""`torch.nn`, `torch.optim` and `torch.distributions`: models, optimizers, what their methods do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.definitions import Function
from xla_lint.program.domain.events import How, Transfer
from xla_lint.program.domain.objects import is_assumed
from xla_lint.program.domain.values import (
    FACT,
    NONE,
    NUMBER,
    UNKNOWN,
    Device,
    Instance,
    Kind,
    Location,
    Mapping,
    Name,
    Number,
    Sequence,
    Stream,
    Tensor,
    Text,
    Value,
    options,
)
from xla_lint.program.domain.walk import tensors_in
from xla_lint.program.library.optimizers import (
    DEPTH,
    STEP_HOOKS,
    add_step_hook,
    clip,
    inside,
    models_of,
    move_parameters,
    parameter_of,
    parameters_in,
    reduce,
    step,
)
from xla_lint.program.library.registry import function, objects, place_named
from xla_lint.program.library.torch_functions import compute
from xla_lint.program.machine.machine import Arguments, device_tensors, place_of

if TYPE_CHECKING:
    from xla_lint.program.machine.machine import Machine

CONTAINERS = frozenset({"torch.nn.ModuleList", "torch.nn.Sequential", "torch.nn.ModuleDict", "torch.nn.ParameterList"})
WAITING = "*hook "
"""How the attributes begin that hold hooks of a model which is not on the device yet."""
HOOKS = frozenset({"register_forward_pre_hook", "register_forward_hook", "register_full_backward_hook"})
MODULES_INSIDE = frozenset(
    {"get_submodule", "get_input_embeddings", "get_output_embeddings", "get_encoder", "get_decoder", "get_base_model"}
)
"""Methods that give a part of a model."""
CHAINING = frozenset({"requires_grad_", "half", "float", "bfloat16", "double", "share_memory", "type"})


@function("torch.nn.")
def build_module(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A library module, a parameter, or a utility of `torch.nn`."""
    last = dotted.rpartition(".")[2]
    if dotted.startswith("torch.nn.functional."):
        return compute(machine, dotted, arguments)
    if dotted in ("torch.nn.Parameter", "torch.nn.Buffer", "torch.nn.parameter.Parameter"):
        value = arguments.get(0)
        tensor = next(iter(tensors_in(value)), None) if value is not None else None
        return (tensor or Tensor(Location.UNKNOWN)).like(grad=False)
    if dotted.startswith("torch.nn.init."):
        return arguments.get(0) or UNKNOWN
    if dotted.startswith("torch.nn.utils."):
        return utility(machine, dotted, arguments)
    if not last[:1].isupper():
        machine.hand_over(arguments)
        return UNKNOWN
    made_on = machine.device
    module = Instance(None, dotted, place=made_on.place, model=True, certain=made_on.certain, node=arguments.node)
    if dotted in CONTAINERS:
        fill(machine, module, arguments)
    place = place_named(arguments.keywords.get("device"))
    if place is not None:
        module.place = place
    for value in arguments.values():
        if isinstance(value, Instance) and value.model and "Parallel" in last:
            return value
    return module


VISION = "torchvision.models"
"""A model of torchvision or timm: methods that are given tensors are parts of it, or run them."""
QUESTIONS = frozenset({"list_models", "get_weight", "get_model_weights", "get_model_builder"})


@function("torchvision.models.", "timm.create_model")
def build_vision_model(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A model of torchvision or timm, on the host."""
    if "_Weights" in dotted or dotted.rpartition(".")[2] in QUESTIONS:
        return UNKNOWN
    return Instance(None, VISION, model=True, node=arguments.node)


def fill(machine: Machine, container: Instance, arguments: Arguments) -> None:
    """Note what a container is built from: each module under its number, and under `*` what stands for any of them."""
    modules, known = contents(machine, arguments)
    places = {module.place for module in modules}
    place = places.pop() if known and len(places) == 1 else Location.UNKNOWN
    if len(modules) == 1 and known:
        container.attributes["*"] = modules[0]
    else:
        node = arguments.node if known else None
        container.attributes["*"] = Instance(None, "torch.nn.Module", place=place, model=True, certain=False, node=node)
        container.attributes.update({str(number): module for number, module in enumerate(modules)})
    if place is Location.DEVICE:
        container.place = place


def add(machine: Machine, container: Instance, value: Value) -> None:
    """Note what is added to a container later. In a loop the modules of all turns are one."""
    last = container.attributes.get("*")
    numbers = sum(name.isdigit() for name in container.attributes)
    earlier = last if isinstance(last, Instance) and last.node is not container.node else None
    for option in options(value):
        module = Instance(None, "torch.nn.Module", model=True, certain=False)
        if isinstance(option, Instance) and option.model:
            module = option
        if not numbers and earlier is not None and earlier.node is not module.node:
            machine.heap.put(container.attributes, "0", earlier)
            numbers = 1
        if numbers and not machine.loops:
            machine.heap.put(container.attributes, str(numbers), module)
            numbers += 1
        machine.heap.put(container.attributes, "*", module)


def contents(machine: Machine, arguments: Arguments) -> tuple[list[Instance], bool]:
    """The modules that a container is given, and whether these are surely all."""
    found: list[Value] = []
    for value in arguments.positional:
        if isinstance(value, Mapping):
            found.extend([*value.entries.values(), *([] if value.element is None else [value.element])])
        elif any(isinstance(option, Instance) and option.model for option in options(value)):
            found.extend(options(value))
        elif isinstance(value, Sequence) and value.items is not None:
            found.extend(option for item in value.items for option in options(item))
        else:
            found.extend(options(machine.iterate(value, None, arguments.node)))
    modules = list(dict.fromkeys(value for value in found if isinstance(value, Instance) and value.model))
    given = arguments.node.args if isinstance(arguments.node, nodes.Call) else []
    hidden = arguments.unpacked and len(arguments.positional) < len(given)
    return modules, not hidden and all(isinstance(v, Instance) and v.model and v.node is not None for v in found)


def utility(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Gradient clipping stays on the device; its result is the norm. Padding keeps its operands' place."""
    if "clip_grad" in dotted:
        clip(machine, arguments.node, dotted.rpartition(".")[2])
    if "clip_grad_norm" in dotted or dotted.endswith("get_total_norm"):
        place = parameters_place(arguments.get(0, "parameters"))
        return machine.tensor(
            arguments.node, place, clip=True, certain=place is Location.DEVICE, shared=machine.here.gradients.reduced
        )
    if dotted.endswith(("pad_sequence", "pack_sequence", "pad_packed_sequence", "pack_padded_sequence")):
        tensors = list(tensors_in(arguments.get(0) or NONE))
        return machine.tensor(arguments.node, place_of(tensors) if tensors else Location.UNKNOWN)
    if "parametrizations" in dotted or dotted.endswith(("weight_norm", "spectral_norm")):
        return arguments.get(0) or UNKNOWN
    return UNKNOWN


def parameters_place(value: Value | None) -> Location:
    """Where parameters live, given in any way that optimizers take."""
    tensors = list(parameters_in(value))
    return place_of(tensors) if tensors else Location.UNKNOWN


def register_hook(machine: Machine, model: Instance, arguments: Arguments) -> Value:
    """A function that runs with the model: it is given the model, and what goes in and out."""
    function = arguments.get(0, "hook")
    if isinstance(function, Function) and model.place is not Location.DEVICE and model.node is not None:
        machine.heap.put(model.attributes, f"{WAITING}{len(model.attributes)}", function)
    elif isinstance(function, Function) and model.place is Location.DEVICE:
        inside, outside = (
            machine.tensor(arguments.node, Location.DEVICE, unstructured=True, certain=False) for _ in range(2)
        )
        machine.run_hook(function, [model, inside, outside], arguments.node)
    else:
        machine.hand_over(arguments)
    return UNKNOWN


def run_waiting_hooks(machine: Machine, model: Instance) -> None:
    """Run the hooks that a model was given before it moved to the device."""
    for name, hook in list(model.attributes.items()):
        if name.startswith(WAITING) and isinstance(hook, Function):
            machine.heap.put(model.attributes, name, NONE)
            inside_, outside = (
                machine.tensor(hook.node, Location.DEVICE, unstructured=True, certain=False) for _ in range(2)
            )
            machine.run_hook(hook, [model, inside_, outside], hook.node)


@objects("torch.nn.", "torch.compile", "transformers.PreTrainedModel")
def model_method(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value | None:
    """Methods of a model, and calling it where its `forward` is not in sight."""
    assert isinstance(receiver, Instance)
    if name == "__init__":
        return NONE
    if name in ("__call__", "forward"):
        return run_model(machine, receiver, arguments)
    if name == "to" or name in ("cuda", "cpu", "to_empty", "xpu"):
        target = arguments.get(0, "device")
        place = {"cuda": Location.UNKNOWN, "cpu": Location.HOST}.get(name) or place_named(target)
        if place is not None and not (isinstance(target, Name)):
            certain = not (isinstance(target, Device) and not target.certain)
            cast = len(arguments.positional) > 1 or "dtype" in arguments.keywords
            machine.emit(Transfer(arguments.node, machine.context, receiver, receiver.place, place, certain, cast))
            move_parameters(machine, receiver, place, arguments.node)
            place_model(machine, receiver, place, certain)
        return receiver
    if name in ("train", "eval"):
        mode = Number(False, traits=FACT) if name == "eval" else arguments.get(0, "mode") or Number(True, traits=FACT)
        set_mode(machine, receiver, mode)
        return receiver
    if name in CHAINING:
        return receiver
    if name in ("parameters", "buffers"):
        return Stream(parameter_of(machine, receiver))
    if name in ("named_parameters", "named_buffers"):
        return Stream(UNKNOWN, pieces=(Stream(Text()), Stream(parameter_of(machine, receiver))))
    if name == "state_dict":
        return Mapping({}, parameter_of(machine, receiver))
    if name in MODULES_INSIDE:
        return Instance(None, "torch.nn.Module", place=receiver.place, model=True, certain=False)
    if name in ("modules", "children"):
        return Stream(Instance(None, "torch.nn.Module", place=receiver.place, model=True, certain=False))
    if name in ("named_modules", "named_children"):
        member = Instance(None, "torch.nn.Module", place=receiver.place, model=True, certain=False)
        return Stream(UNKNOWN, pieces=(Stream(Text()), Stream(member)))
    if name in ("register_buffer", "register_parameter", "add_module", "register_module"):
        key, value = arguments.get(0), arguments.get(1)
        if isinstance(key, Text) and key.const is not None and value is not None:
            machine.heap.put(receiver.attributes, key.const, value)
        return NONE
    if name in HOOKS:
        return register_hook(machine, receiver, arguments)
    if name == "apply":
        given = arguments.get(0, "fn") or UNKNOWN
        for model in (*inside(receiver), receiver):
            machine.call(given, Arguments(arguments.node, [model]))
        return receiver
    if name in ("append", "extend", "insert") and receiver.library in CONTAINERS:
        value = arguments.get(1 if name == "insert" else 0) or UNKNOWN
        add(machine, receiver, machine.iterate(value, None, arguments.node) if name == "extend" else value)
        return receiver
    if name in ("items", "values", "keys"):
        inside_value = receiver.attributes.get("*", Instance(None, "torch.nn.Module", model=True, certain=False))
        if name == "values":
            return Stream(inside_value)
        return Stream(UNKNOWN, pieces=(Stream(Text()), Stream(inside_value))) if name == "items" else Stream(Text())
    if name in ("zero_grad", "load_state_dict", "gradient_checkpointing_enable", "requires_grad_", "compile"):
        return NONE
    if name.startswith("register_") and name.endswith("hook"):
        machine.hand_over(arguments)
        return UNKNOWN
    if receiver.library == VISION and device_tensors(arguments.values()):
        return run_model(machine, receiver, arguments)
    return None


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
    place = place_of(tensors) if tensors else Location.UNKNOWN
    if place is Location.UNKNOWN and model.place is not Location.UNKNOWN:
        place = model.place
    on_host = bool(tensors) and all(t.place is Location.HOST and t.certain for t in tensors)
    if model.place is Location.DEVICE and not (is_assumed(model) and on_host):
        place = Location.DEVICE
    if place is Location.DEVICE:
        if not machine.in_forward:
            machine.forward(arguments.node, model)
        if model.library == "torch.compile":
            machine.barrier(arguments.node, "torch.compile", silent=True)
    chain = chain_of(model)
    if chain:
        return run_chain(machine, chain, arguments)
    layer = model.library.startswith("torch.nn.") and model.library != "torch.nn.Module"
    length = tensors[0].length if layer and tensors and "Loss" not in model.library else None
    return machine.tensor(
        arguments.node,
        place,
        grad=machine.here.grad,
        unstructured=not layer,
        certain=model.certain and all(t.certain for t in tensors),
        length=length,
        kind=Kind.UNKNOWN,
    )


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
    before, machine.in_forward = machine.in_forward, True
    given = arguments
    for module in chain:
        given = Arguments(arguments.node, [machine.call_instance(module, given)])
    machine.in_forward = before
    return given.positional[0]


@function("torch.optim.", "torch_xla.amp.syncfree.")
def build_optimizer(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """An optimizer or a schedule."""
    parameters = arguments.get(0, "params")
    return Instance(None, dotted, {"params": parameters or UNKNOWN}, parameters_place(parameters), node=arguments.node)


@objects("torch.optim.", "torch_xla.amp.syncfree.")
def optimizer_method(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value | None:
    """Methods of an optimizer or a schedule."""
    assert isinstance(receiver, Instance)
    scheduler = "lr_scheduler" in receiver.library
    if name == "step":
        closure = arguments.get(0, "closure")
        if scheduler:
            if receiver.library.endswith("ReduceLROnPlateau") and arguments.positional:
                metric = arguments.positional[0]
                machine.read(arguments.node, arguments.node_of(0), metric, How.HIDDEN, "ReduceLROnPlateau.step")
            return NONE
        loss = machine.call(closure, Arguments(arguments.node, [])) if isinstance(closure, Function) else NONE
        if receiver.prepared:
            reduce(machine, arguments.node, "the step of the prepared optimizer", prepared=True)
        step(machine, receiver, arguments.node)
        machine.optimizer_step(arguments.node, optimizer_place(receiver))
        return loss
    if name == "zero_grad":
        return NONE
    if name == "state_dict":
        if scheduler:
            return Mapping({}, NUMBER)
        groups = Sequence(None, Mapping({}, NUMBER))
        return Mapping({"state": Mapping({}, Mapping({}, Tensor(receiver.place))), "param_groups": groups})
    if name in ("__init__", "add_param_group"):
        given = arguments.get(0, "params" if name == "__init__" else "param_group") or UNKNOWN
        held = [receiver.attributes["params"]] if "params" in receiver.attributes else []
        machine.heap.put(receiver.attributes, "params", Sequence([*held, given]))
        machine.heap.assign(receiver, "place", parameters_place(receiver.attributes["params"]))
        return NONE
    if name == "get_last_lr":
        return Sequence(None, NUMBER)
    if name in STEP_HOOKS:
        add_step_hook(machine, receiver, name, arguments.get(0, "hook") or UNKNOWN)
    return UNKNOWN


def optimizer_place(optimizer: Instance) -> Location:
    """Where the parameters that an optimizer updates live now."""
    places = {model.place for model in models_of(optimizer.attributes.get("params"))}
    if Location.DEVICE in places or not places:
        return Location.DEVICE if Location.DEVICE in places else optimizer.place
    return Location.HOST if places == {Location.HOST} else optimizer.place


@objects("torch.distributions.")
def distribution_method(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value | None:
    """A distribution's methods give tensors where its parameters live."""
    assert isinstance(receiver, Instance)
    return machine.derived(arguments.node, [*receiver.attributes.values(), *arguments.values()])


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
