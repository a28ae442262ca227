"""timm: what its training helpers do with tensors, by the source of timm 1.0.31 (`utils`, `scheduler`, `layers`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import How
from xla_lint.program.domain.values import (
    NONE,
    NUMBER,
    UNKNOWN,
    Instance,
    Mapping,
    Name,
    Number,
    Sequence,
    Tensor,
    Value,
)
from xla_lint.program.library.registry import attributes, function, methods, methods_of_each
from xla_lint.program.library.saves import write
from xla_lint.program.machine.arguments import Arguments

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.machine.machine import Machine

METER, SAVER, SCALER = (f"timm.utils.{name}" for name in ("AverageMeter", "CheckpointSaver", "NativeScaler"))
AVERAGES = ("timm.utils.ModelEma", "timm.utils.ModelEmaV2", "timm.utils.ModelEmaV3")
SCHEDULE = "timm.scheduler."
CLIPS = {"norm": "torch.nn.utils.clip_grad_norm_", "value": "torch.nn.utils.clip_grad_value_"}
"""What clips gradients, by mode."""


@function("timm.utils.accuracy")
def accuracy(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A tensor for each `k`, where the output is."""
    topk = arguments.get(2, "topk") or Sequence([Number(1)], frozen=True)
    rights = machine.derived(arguments.node, arguments.values(), grad=False)
    known = topk.items if isinstance(topk, Sequence) else None
    return Sequence(None if known is None else [rights for _ in known], rights)


@function("timm.utils.reduce_tensor")
def reduce_tensor(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """The mean over the replicas."""
    machine.collective(arguments.node, "torch.distributed.all_reduce")
    return machine.derived(arguments.node, [arguments.get(0, "tensor") or UNKNOWN], collective=True, shared=True)


@function("timm.utils.unwrap_model", "timm.layers.convert_sync_batchnorm", "timm.layers.convert_splitbn_model")
def same_model(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """The model inside its wrappers, or with other layers for its normalisation."""
    return arguments.get(0, "model") or arguments.keywords.get("module") or UNKNOWN


@function("timm.utils.get_state_dict")
def get_state_dict(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """The state of a model."""
    return call(machine, arguments.get(0, "model") or UNKNOWN, "state_dict", arguments.node)


@function("timm.utils.dispatch_clip_grad")
def clip(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Gradients are clipped as torch does it."""
    return clip_as(machine, arguments.get(2, "mode"), arguments.positional[:2], arguments.node)


@function(METER)
def build_meter(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A meter that has seen nothing."""
    return Instance(None, METER, dict.fromkeys(("val", "avg", "sum", "count"), NUMBER), node=arguments.node)


@methods(METER, "update")
def update_meter(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """A tensor stays one, and so do its sum and its mean, with the history that it carries."""
    value = arguments.get(0, "val") or UNKNOWN
    total = machine.derived(arguments.node, [value]) if isinstance(value, Tensor) else value
    for slot, held in (("val", value), ("sum", total), ("avg", total)):
        machine.heap.put(receiver.attributes, slot, held)
    return NONE


@methods(METER, "reset")
def reset_meter(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """A meter that has seen nothing again."""
    for slot in ("val", "avg", "sum"):
        machine.heap.put(receiver.attributes, slot, NUMBER)
    return NONE


@attributes(METER)
def meter_attribute(machine: Machine, receiver: Instance, name: str, node: nodes.NodeNG) -> Value | None:
    """What a meter holds."""
    return receiver.attributes.get(name)


@function(SAVER)
def build_saver(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A saver keeps what it is given."""
    saved = [arguments.get(0, "model"), arguments.get(1, "optimizer"), arguments.get(3, "model_ema")]
    held = Sequence([value for value in saved if value is not None])
    return Instance(None, SAVER, {"*saved": held}, node=arguments.node)


@methods(SAVER, "save_checkpoint", "save_recovery")
def save(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """The states of the model, its average and the optimizer are pickled as they are."""
    write(machine, arguments.node, "torch.save", f"{name}()", receiver.attributes["*saved"])
    return Sequence([NUMBER, NUMBER], NUMBER, True)


@function(SCALER)
def build_scaler(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A scaler around torch's."""
    inside = machine.call(Name("torch.amp.GradScaler"), Arguments(arguments.node, [], dict(arguments.keywords)))
    return Instance(None, SCALER, {"_scaler": inside}, node=arguments.node)


@methods(SCALER, "__call__")
def scale(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """The backward pass, what clips the gradients, and the step of the optimizer."""
    node, inside = arguments.node, receiver.attributes["_scaler"]
    optimizer = arguments.get(1, "optimizer") or UNKNOWN
    loss = call(machine, inside, "scale", node, arguments.get(0, "loss") or UNKNOWN)
    call(machine, loss, "backward", node)
    if arguments.get(2, "clip_grad") not in (None, NONE):
        call(machine, inside, "unscale_", node, optimizer)
        given = [arguments.get(4, "parameters") or UNKNOWN, arguments.get(2, "clip_grad") or UNKNOWN]
        clip_as(machine, arguments.get(3, "clip_mode"), given, node)
    call(machine, inside, "step", node, optimizer)
    return NONE


@function(*AVERAGES)
def build_average(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A copy of the model, where it is told to be or where the model is."""
    module = machine.call(Name("copy.deepcopy"), Arguments(arguments.node, [arguments.get(0, "model") or UNKNOWN]))
    device = arguments.get(2, "device")
    if device not in (None, NONE):
        module = call(machine, module, "to", arguments.node, device or UNKNOWN)
    inside = "ema" if dotted == AVERAGES[0] else "module"
    return Instance(None, dotted, {inside: module}, node=arguments.node)


@methods_of_each(AVERAGES, "update", "set", "__call__", "forward", "state_dict", "eval", "train")
def average(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """An average follows the model on its device, and runs as the model does."""
    if name in ("update", "set"):
        machine.derived(arguments.node, [get_state_dict(machine, "", arguments)])
        return NONE
    module = receiver.attributes.get("ema") or receiver.attributes.get("module") or UNKNOWN
    if name in ("__call__", "forward"):
        return machine.call(module, arguments)
    return call(machine, module, name, arguments.node)


@function("timm.scheduler.create_scheduler", "timm.scheduler.create_scheduler_v2")
def create_schedule(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A schedule, and the number of epochs."""
    return Sequence([Instance(None, f"{SCHEDULE}Scheduler", node=arguments.node), NUMBER], frozen=True)


@function(SCHEDULE)
def build_schedule(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A schedule of learning rates."""
    return Instance(None, dotted, node=arguments.node)


@methods(SCHEDULE)
def schedule_method(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """Schedules compute on the host; the one of plateaus asks for the metric's value."""
    metric = arguments.get(1, "metric")
    if name == "step" and metric is not None and receiver.library.endswith("PlateauLRScheduler"):
        machine.read(arguments.node, arguments.node_of(1, "metric"), metric, How.HIDDEN, "PlateauLRScheduler.step")
    return Mapping({}, NUMBER) if name == "state_dict" else NONE


def clip_as(machine: Machine, mode: Value | None, given: list[Value], node: nodes.NodeNG) -> Value:
    """Clip gradients as a mode says; by their norm where it says nothing."""
    named = "norm" if mode is None else getattr(mode, "const", None)
    dotted = CLIPS.get(str(named))
    return UNKNOWN if dotted is None else machine.call(Name(dotted), Arguments(node, given))


def call(machine: Machine, receiver: Value, name: str, node: nodes.NodeNG, *given: Value) -> Value:
    """What a method of a value gives."""
    return machine.call(machine.attribute(receiver, name, node), Arguments(node, list(given)))
