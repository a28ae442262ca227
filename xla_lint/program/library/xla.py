"""torch_xla: devices, barriers, collectives, step closures, launches, ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.definitions import Function, Method
from xla_lint.program.domain.events import Condition, How, Launch, Read, StepClosure
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
    Text,
    Value,
    options,
)
from xla_lint.program.library.optimizers import reduce, step
from xla_lint.program.library.registry import function, objects
from xla_lint.program.machine.machine import Arguments, source_of

if TYPE_CHECKING:
    from xla_lint.program.machine.machine import Machine

XM = "torch_xla.core.xla_model."
RANKS = (
    f"{XM}get_ordinal",
    f"{XM}get_local_ordinal",
    f"{XM}is_master_ordinal",
    "torch_xla.runtime.global_ordinal",
    "torch_xla.runtime.local_ordinal",
    "torch_xla.runtime.process_index",
    "torch.distributed.get_rank",
)
DEVICES = ("torch_xla.device", f"{XM}xla_device", "torch_xla.devices", f"{XM}xla_real_devices")
"""The functions that give the XLA device."""


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
        return Instance(None, "torch.compile", place=value.place, model=True, node=arguments.node)
    return Instance(None, "torch_xla.step", node=arguments.node) if value is None else value


@objects("torch_xla.step")
def step_as_decorator(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value | None:
    """`torch_xla.compile(full_graph=True)` decorates a function."""
    value = arguments.get(0)
    if name == "__call__" and isinstance(value, Function):
        value.compiled = True
        return value
    return None


@function(f"{XM}mesh_reduce", f"{XM}rendezvous")
def host_collective(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A collective through the host: a barrier for what follows."""
    machine.barrier(arguments.node, dotted.removeprefix("torch_xla.core.xla_model.").join(("xm.", "")), silent=True)
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


@function("torch_xla.runtime.", f"{XM}xrt_world_size", "torch_xla.debug.", XM, "torch_xla.")
def other(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """The rest of torch_xla neither reads nor cuts."""
    last = dotted.rpartition(".")[2]
    if last in ("xrt_world_size", "world_size", "global_runtime_device_count", "device_count"):
        return NUMBER
    if last in (
        "XlaFullyShardedDataParallel",
        "SpmdFullyShardedDataParallel",
        "DistributedDataParallel",
        "mark_sharding",
    ):
        return arguments.get(0) or UNKNOWN
    if last == "checkpoint":
        inner = arguments.get(0)
        return machine.call(inner, Arguments(arguments.node, arguments.positional[1:])) if inner else UNKNOWN
    if last == "send_cpu_data_to_device":
        return Tensor(Location.DEVICE, MATERIALISED, unstructured=True)
    if last == "_maybe_convert_to_cpu":
        value = arguments.get(0) or NONE
        machine.read(arguments.node, arguments.node_of(0), value, How.VALUE, "_maybe_convert_to_cpu", materialises=True)
        return UNKNOWN
    if last == "RateTracker":
        return Instance(None, dotted, node=arguments.node)
    machine.hand_over(arguments)
    return UNKNOWN


@objects("torch_xla.core.xla_model.RateTracker")
def rate_tracker(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value | None:
    """A tracker of host numbers."""
    return NUMBER


@function(
    "torch_xla.distributed.xla_multiprocessing.spawn",
    "torch_xla.launch",
    "torch_xla.distributed.xla_multiprocessing.MpModelWrapper",
)
def launch(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Run a function on every replica; its first parameter is the index of the process."""
    target = arguments.get(0, "fn")
    if dotted.endswith("MpModelWrapper"):
        return target or UNKNOWN
    if may_replicate(arguments):
        machine.emit(Launch(arguments.node, machine.context, machine.here.touched))
    if isinstance(target, (Function, Method)):
        touched = machine.here.touched
        extra = arguments.get(1, "args")
        items = extra.items if isinstance(extra, Sequence) and extra.items is not None else None
        before, machine.replicated = machine.replicated, not is_alone(arguments)
        machine.call(
            target,
            Arguments(arguments.node, [RANK, *(items or [])], unpacked=extra is not None and items is None),
        )
        machine.replicated = before
        machine.here.touched = touched
    return NONE


def is_alone(arguments: Arguments) -> bool:
    """True where a launch starts one process only."""
    processes, debug = arguments.get(2, "nprocs"), arguments.keywords.get("debug_single_process")
    return (isinstance(processes, Number) and processes.const == 1) or (isinstance(debug, Number) and bool(debug.const))


def may_replicate(arguments: Arguments) -> bool:
    """True where a launch starts a process for each device, as far as its arguments tell."""
    processes, debug = arguments.get(2, "nprocs"), arguments.keywords.get("debug_single_process")
    named = "nprocs" in arguments.keywords or isinstance(processes, Number)
    several = not named or processes is NONE or (isinstance(processes, Number) and (processes.const or 0) > 1)
    return several and (debug is None or (isinstance(debug, Number) and debug.const is False))


@function("torch.distributed.init_process_group")
def join_replicas(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A process that joins others over XLA is one replica of several."""
    backend = arguments.get(0, "backend")
    machine.replicated |= isinstance(backend, Text) and backend.const == "xla"
    return NONE


@function(f"{XM}add_step_closure")
def add_step_closure(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Register a callback that runs after the barrier."""
    node = arguments.node
    machine.emit(StepClosure(node, machine.context, closure_problem(machine, arguments)))
    callback = arguments.get(0, "closure")
    given = arguments.get(1, "args")
    items = given.items if isinstance(given, Sequence) and given.items is not None else []
    run_closure(machine, callback, [materialised(item) for item in items], node)
    return NONE


def closure_problem(machine: Machine, arguments: Arguments) -> str | None:
    """What is wrong with the arguments of a step closure, None where nothing is."""
    callback = arguments.get(0, "closure")
    callback_node = arguments.node_of(0, "closure")
    if isinstance(callback_node, nodes.Call) and (callback is NONE or isinstance(callback, (Number, Text, Tensor))):
        return f"'{source_of(callback_node)}' is called at once, and its result is registered"
    given = arguments.get(1, "args")
    given_node = arguments.node_of(1, "args")
    if given_node is None:
        return None
    for event in reversed(machine.events):
        if isinstance(event, Read) and event.how is How.VALUE:
            if event.node.lineno is None or not within(event.node, given_node):
                break
            return f"'{source_of(event.node)}' reads the value before the barrier"
        if event.node is not arguments.node and not within(event.node, given_node):
            break
    if isinstance(given, (Tensor, Number)):
        return f"'args={source_of(given_node)}' is no tuple"
    return None


def within(node: nodes.NodeNG | None, outer: nodes.NodeNG) -> bool:
    """Whether a node is part of another one."""
    while node is not None:
        if node is outer:
            return True
        node = node.parent
    return False


def materialised(value: Value) -> Value:
    """A value as a step closure sees it: what was pending has been computed."""
    if isinstance(value, Tensor):
        return value.like(recorded_in=MATERIALISED)
    if isinstance(value, Sequence) and value.items is not None:
        return Sequence([materialised(item) for item in value.items], UNKNOWN, value.frozen)
    return value


def run_closure(machine: Machine, callback: Value | None, items: list[Value], node: nodes.NodeNG) -> None:
    """Run a step closure's body, after an imagined barrier."""
    for option in options(callback or NONE):
        if not isinstance(option, Function) or option.node in machine.active:
            continue
        before, state, closure = machine.state, machine.here.fork(), machine.closure
        machine.closure = True
        state.epochs = frozenset({max(state.epochs) + 1_000_000})
        state.materialised = frozenset()
        machine.state = state
        machine.call(option, Arguments(node, items))
        machine.state, machine.closure = before, closure
