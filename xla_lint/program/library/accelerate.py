"""Accelerate: the `Accelerator`, and what it makes of models, optimizers, schedules and loaders.

By the source of accelerate 1.15, on XLA: `clip_grad_norm_` and the `step` of a prepared optimizer all-reduce the
gradients first, `clip_grad_value_` does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import How, SplitPrepare
from xla_lint.program.domain.join import join_all
from xla_lint.program.domain.loaders import Loader
from xla_lint.program.domain.objects import is_optimizer, is_schedule
from xla_lint.program.domain.ranks import RANK
from xla_lint.program.domain.values import (
    NONE,
    NUMBER,
    RARE,
    UNKNOWN,
    Choice,
    Device,
    Instance,
    Location,
    Name,
    Number,
    Sequence,
    Tensor,
    Value,
)
from xla_lint.program.domain.walk import OBJECTS, changed
from xla_lint.program.library.data import on_host, wrap
from xla_lint.program.library.networks import place_model
from xla_lint.program.library.optimizers import WRAPPED, clip, models_of, reduce
from xla_lint.program.library.registry import attributes, function, methods
from xla_lint.program.machine.arguments import Arguments

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.machine.machine import Machine

ACCELERATOR = "accelerate.Accelerator"
XLA = Name("accelerate.DistributedType.XLA")
"""How Accelerate runs on XLA; `TPU` was its name before 0.28."""
CONFIGURATIONS = ("accelerate.DataLoaderConfiguration", "accelerate.utils.DataLoaderConfiguration")
EVEN = "even_batches"
OPTIMIZERS = "*optimizers"
"""The attribute of an `Accelerator` that holds the optimizers that it prepared."""


@function(ACCELERATOR)
def accelerator(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """An `Accelerator`, which owns the device and the barriers."""
    placement = arguments.get(0, "device_placement")
    return Instance(
        None,
        dotted,
        {
            "device": Device(Location.DEVICE, certain=False),
            "device_placement": placement or Number(True),
            "distributed_type": XLA,
            "sync_gradients": RARE,
            "is_main_process": RANK,
            "is_local_main_process": RANK,
            "is_last_process": RANK,
            "process_index": RANK,
            "local_process_index": RANK,
            "num_processes": NUMBER,
            "gradient_accumulation_steps": NUMBER,
            EVEN: even_batches(arguments),
        },
        node=arguments.node,
    )


@function(*CONFIGURATIONS)
def configuration(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """How loaders are prepared."""
    return Instance(None, CONFIGURATIONS[0], dict(arguments.keywords), node=arguments.node)


def even_batches(arguments: Arguments) -> Value:
    """Whether an `Accelerator` fills up last batches, by an argument of its own before 0.30 or by a configuration."""
    holder = arguments.keywords.get("dataloader_config")
    held = holder.attributes if isinstance(holder, Instance) else arguments.keywords
    return held.get("even_batches", UNKNOWN)


@attributes("accelerate.PartialState", "accelerate.AcceleratorState", "accelerate.state.")
def state_attribute(machine: Machine, receiver: Instance, name: str, node: nodes.NodeNG) -> Value | None:
    """What the state that all accelerators share tells, as an accelerator tells it."""
    return {"distributed_type": XLA, "device": Device(Location.DEVICE, certain=False)}.get(name)


@function("accelerate.PartialState", "accelerate.AcceleratorState", "accelerate.state.")
def state(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """The state that all accelerators share."""
    return Instance(None, dotted, node=arguments.node)


UTILITIES = ("accelerate.utils.", "accelerate.utils.operations.")
PREPARING = ("prepare", "prepare_model", "prepare_data_loader", "prepare_optimizer", "prepare_scheduler")


@methods(ACCELERATOR, *PREPARING)
def prepare_all(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """What `prepare` returns for its arguments: one object, or a tuple."""
    report_split(machine, receiver, arguments)
    placed = places(receiver, arguments)
    prepared = [prepare(machine, receiver, value, arguments, place) for value, place in placed]
    if len(prepared) == 1 and not arguments.unpacked:
        return prepared[0]
    return Sequence(None if arguments.unpacked else prepared, UNKNOWN, True)


@methods(ACCELERATOR, "gather", "gather_for_metrics", "reduce", "pad_across_processes")
def gather(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """Values of all replicas come together; `pad_across_processes` alone cuts nothing."""
    if name != "pad_across_processes":
        machine.barrier(arguments.node, f"accelerator.{name}", silent=True, waits=True)
    return alike(arguments.get(0) or UNKNOWN, shared=name != "pad_across_processes")


@function(*(module + name for module in UTILITIES for name in ("gather", "reduce")))
def gather_anywhere(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """The same without an `Accelerator`."""
    machine.barrier(arguments.node, dotted, silent=True, waits=True)
    return alike(arguments.get(0) or UNKNOWN, shared=True)


@function(*(module + "broadcast" for module in UTILITIES))
def broadcast(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """It is `xm.mesh_reduce`: what the first replica holds comes to all of them on the host, and nothing is cut."""
    machine.collective(arguments.node, dotted)
    return on_host(arguments.get(0) or UNKNOWN)


def alike(value: Value, *, shared: bool) -> Value:
    """Values that all replicas hold alike, or each its own."""
    return changed(value, lambda item: item.like(shared=shared) if isinstance(item, Tensor) else item, OBJECTS)


@methods(ACCELERATOR, "clip_grad_norm_", "clip_grad_value_")
def clip_gradients(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """Both clip the gradients; by the norm, these are reduced before."""
    if name == "clip_grad_value_":
        clip(machine, arguments.node, f"accelerator.{name}")
        return NONE
    reduce(machine, arguments.node, f"accelerator.{name}", prepared=True)
    return machine.tensor(arguments.node, Location.DEVICE, clip=True, certain=False)


@methods(ACCELERATOR)
def accelerator_method(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """The other methods of an `Accelerator`."""
    if name == "skip_first_batches":
        return arguments.get(0, "dataloader") or UNKNOWN
    if name == "backward":
        return machine.method(arguments.get(0) or UNKNOWN, "backward", Arguments(arguments.node, []))
    if name in ("print", "log"):
        for value in arguments.positional:
            machine.read(arguments.node, None, value, How.FORMAT, f"accelerator.{name}", materialises=True)
        return NONE
    if name in ("wait_for_everyone", "save_state"):
        machine.barrier(arguments.node, f"accelerator.{name}", silent=True, waits=True)
        return NONE
    if name in ("unwrap_model", "save", "free_memory", "end_training", "init_trackers", "get_state_dict"):
        return arguments.get(0) or NONE
    if name in ("accumulate", "autocast", "no_sync", "join_uneven_inputs", "main_process_first"):
        return Instance(None, "accelerate.context", node=arguments.node)
    return UNKNOWN


@function("accelerate.skip_first_batches", "accelerate.data_loader.skip_first_batches")
def skip_first_batches(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """The rest of a loader."""
    return arguments.get(0, "dataloader") or UNKNOWN


def places(owner: Instance, arguments: Arguments) -> list[tuple[Value, bool]]:
    """Each argument of `prepare`, with whether it is moved to the device."""
    general = not is_false(owner.attributes.get("device_placement", UNKNOWN))
    given = arguments.keywords.get("device_placement")
    single = given.items if isinstance(given, Sequence) and given.items is not None else []
    flags = [not is_false(flag) for flag in single]
    values = list(arguments.positional) or [v for k, v in arguments.keywords.items() if k != "device_placement"]
    return [(v, flags[i] if i < len(flags) else general) for i, v in enumerate(values)]


def is_false(value: Value) -> bool:
    """True for a constant False."""
    return isinstance(value, Number) and value.const is False


def prepare(machine: Machine, owner: Instance, value: Value, arguments: Arguments, placed: bool) -> Value:
    """What `prepare` returns for one object; an optimizer and a schedule are wrapped, a model is itself."""
    if isinstance(value, Choice):
        return join_all(prepare(machine, owner, option, arguments, placed) for option in value.options)
    if isinstance(value, Loader):
        if value.prepared:
            return value
        loader = wrap(value, arguments.node)
        loader.prepared, loader.made = True, value.made
        if not is_false(owner.attributes.get(EVEN, UNKNOWN)):
            value.host.evened = True
        return loader
    if isinstance(value, Instance) and value.model:
        machine.heap.assign(value, "prepared", True)
        if placed:
            place_model(machine, value, Location.DEVICE, certain=False)
        return value
    if isinstance(value, Instance) and is_optimizer(value):
        if placed:
            machine.heap.assign(value, "place", Location.DEVICE)
        before = owner.attributes.get(OPTIMIZERS)
        items = before.items or [] if isinstance(before, Sequence) else []
        machine.heap.put(owner.attributes, OPTIMIZERS, Sequence([*items, value], UNKNOWN, True))
        return wrapped(value)
    return wrapped(value) if isinstance(value, Instance) and is_schedule(value) else value


def wrapped(value: Instance) -> Instance:
    """The wrapper that `prepare` makes around an optimizer or a schedule."""
    held = {**value.attributes, WRAPPED: value} if is_optimizer(value) else value.attributes
    return Instance(None, value.library, held, value.place, node=value.node, prepared=True)


def report_split(machine: Machine, owner: Instance, arguments: Arguments) -> None:
    """Report an optimizer and its model that are prepared apart, where the optimizer has the parameters of before."""
    models = {v for v in arguments.positional if isinstance(v, Instance) and v.model}
    optimizers = [v for v in arguments.positional if isinstance(v, Instance) and is_optimizer(v)]
    earlier = owner.attributes.get(OPTIMIZERS)
    for optimizer in optimizers:
        origins = models_of(optimizer.attributes.get("params"))
        if origins and optimizer.place is not Location.DEVICE and all(is_prepared(origin) for origin in origins):
            machine.emit(SplitPrepare(arguments.node, machine.context, optimizer))
    for other in (earlier.items or []) if isinstance(earlier, Sequence) else []:
        if isinstance(other, Instance) and other not in optimizers:
            origins = models_of(other.attributes.get("params"))
            if any(origin in models and origin.place is not Location.DEVICE for origin in origins):
                machine.emit(SplitPrepare(arguments.node, machine.context, other))


def is_prepared(model: Instance) -> bool:
    """Whether `prepare` has moved a model already."""
    return model.prepared and model.place is Location.DEVICE
