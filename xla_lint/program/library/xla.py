"""torch_xla: devices, barriers, collectives, step closures, launches, ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.backend.torch_xla import COMPILED_MODEL
from xla_lint.program.domain.definitions import Function
from xla_lint.program.domain.events import Condition, How
from xla_lint.program.domain.objects import bound_to
from xla_lint.program.domain.ranks import RANK
from xla_lint.program.domain.values import (
    MATERIALISED,
    NONE,
    NUMBER,
    UNKNOWN,
    Device,
    Instance,
    Location,
    Number,
    Sequence,
    Tensor,
    Value,
)
from xla_lint.program.library.devices import DEVICES, XM
from xla_lint.program.library.optimizers import reduce, step
from xla_lint.program.library.registry import function, manager, methods
from xla_lint.program.machine.arguments import Arguments

if TYPE_CHECKING:
    from xla_lint.program.library.registry import Body
    from xla_lint.program.machine.machine import Machine

RANKS = (
    f"{XM}get_ordinal",
    f"{XM}get_local_ordinal",
    f"{XM}is_master_ordinal",
    "torch_xla.runtime.global_ordinal",
    "torch_xla.runtime.local_ordinal",
    "torch_xla.runtime.process_index",
    "torch.distributed.get_rank",
)


@function(*DEVICES)
def device(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """The XLA device."""
    value = Device(Location.DEVICE)
    return Sequence(None, value) if dotted.endswith("s") else value


@function("torch_xla.sync", f"{XM}mark_step")
def sync(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A barrier."""
    machine.barrier(arguments.node, "torch_xla.sync()" if dotted == "torch_xla.sync" else "xm.mark_step()")
    return NONE


@function(f"{XM}optimizer_step")
def optimizer_step(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Reduce the gradients and step; a barrier only if asked."""
    reduce(machine, arguments.node, "xm.optimizer_step")
    machine.collective(arguments.node, "xm.optimizer_step")
    step(machine, arguments.get(0, "optimizer") or UNKNOWN, arguments.node)
    machine.optimizer_step(arguments.node, Location.DEVICE)
    barrier = arguments.get(1, "barrier")
    if isinstance(barrier, Number) and barrier.const:
        machine.barrier(arguments.node, "xm.optimizer_step(barrier=True)")
    elif barrier is not None and not (isinstance(barrier, Number) and barrier.const is False):
        machine.opaque()
    return NONE


@function("torch_xla.step", "torch_xla.debug.profiler.StepTrace", "torch_xla.debug.profiler.Trace")
def region(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A region that ends in a barrier (`Trace` does not)."""
    return Instance(None, dotted, node=arguments.node)


@manager("torch_xla.step", "torch_xla.debug.profiler.StepTrace")
def run_region(machine: Machine, region: Instance, body: Body, node: nodes.NodeNG) -> None:
    """The end of the region is a barrier; `torch_xla.step` begins with one too."""
    if region.library == "torch_xla.step":
        machine.barrier(node, "torch_xla.step", silent=True)
    body(UNKNOWN)
    if machine.at.state is not None:
        machine.barrier(node, region.library.replace("torch_xla.debug.profiler", "xp"), silent=True)


@function("torch_xla.compile", "torch_xla.experimental.compile")
def compiled(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A function each of whose calls is a graph of its own; without a function, a decorator or a region."""
    value = arguments.get(0, "f")
    if isinstance(value, Function):
        result = bound_to(value, value.receiver) if value.receiver is not None else bound_to(value, NONE)
        result.receiver = value.receiver
        result.compiled = True
        return result
    if isinstance(value, Instance) and value.model:
        return Instance(None, COMPILED_MODEL, place=value.place, model=True, node=arguments.node)
    return Instance(None, "torch_xla.step", node=arguments.node) if value is None else value


@methods("torch_xla.step", "__call__")
def step_as_decorator(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """`torch_xla.compile(full_graph=True)` decorates a function."""
    value = arguments.get(0)
    if isinstance(value, Function):
        value.compiled = True
        return value
    return None


@function(f"{XM}mesh_reduce", f"{XM}rendezvous")
def host_collective(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A collective through the host: a barrier for what follows."""
    machine.barrier(arguments.node, dotted.replace(XM, "xm."), silent=True)
    return NUMBER if dotted.endswith("mesh_reduce") else NONE


@function(f"{XM}wait_device_ops", f"{XM}set_rng_state")
def nothing(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """What neither reads nor cuts."""
    return NONE


@function(f"{XM}master_print")
def master_print(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """`print` on one replica."""
    with machine.under([Condition.RANK]):
        machine.read_each(arguments, How.FORMAT, "xm.master_print", materialises=True)
    return NONE


@function(*RANKS)
def rank(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A number that differs between replicas."""
    return RANK


@function(
    f"{XM}xrt_world_size",
    "torch_xla.runtime.world_size",
    "torch_xla.runtime.global_runtime_device_count",
    "torch_xla.runtime.global_device_count",
    "torch_xla.runtime.local_device_count",
    "torch_xla.device_count",
)
def device_count(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """How many devices or replicas there are."""
    return NUMBER


WRAPPERS = frozenset(
    {"XlaFullyShardedDataParallel", "SpmdFullyShardedDataParallel", "DistributedDataParallel", "mark_sharding"}
)


@function("torch_xla.utils.checkpoint.checkpoint")
def checkpoint(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A function is called, and called again for the backward pass."""
    inner = arguments.get(0)
    return machine.call(inner, Arguments(arguments.node, arguments.positional[1:])) if inner else UNKNOWN


@function(f"{XM}send_cpu_data_to_device")
def send(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Host tensors are transferred."""
    return Tensor(Location.DEVICE, MATERIALISED, unstructured=True)


@function(f"{XM}_maybe_convert_to_cpu")
def fetch(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Everything is fetched from the device."""
    value = arguments.get(0) or NONE
    machine.read(arguments.node, arguments.node_of(0), value, How.VALUE, "_maybe_convert_to_cpu", materialises=True)
    return UNKNOWN


@function("torch_xla.")
def other(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """The rest of torch_xla neither reads nor cuts; a wrapper gives what it wraps."""
    if dotted.rpartition(".")[2] in WRAPPERS:
        return arguments.get(0) or UNKNOWN
    machine.hand_over(arguments)
    return UNKNOWN


@function(f"{XM}RateTracker")
def make_rate_tracker(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A tracker of host numbers."""
    return Instance(None, dotted, node=arguments.node)


@methods(f"{XM}RateTracker")
def rate_tracker(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """What it tells are numbers of the host."""
    return NUMBER
