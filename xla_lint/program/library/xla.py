"""What functions of a backend mean by their role: devices, barriers, regions, ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.backend import BACKENDS, backend_of, names, role_of, spelled
from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.contexts import Condition
from xla_lint.program.domain.definitions import Function
from xla_lint.program.domain.events import How
from xla_lint.program.domain.objects import COMPILED_MODEL, bound_to
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
    options,
)
from xla_lint.program.library.networks import place_model
from xla_lint.program.library.optimizers import move_parameters, reduce, run_step
from xla_lint.program.library.registry import function, manager, methods_of_each
from xla_lint.program.machine.arguments import Arguments

if TYPE_CHECKING:
    from xla_lint.program.library.registry import Body
    from xla_lint.program.machine.machine import Machine


@function(*names(Role.DEVICE, Role.DEVICES))
def device(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """The lazy device."""
    value = Device(Location.DEVICE)
    return Sequence(None, value) if role_of(dotted) is Role.DEVICES else value


@function(*names(Role.BARRIER))
def sync(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A barrier."""
    machine.barrier(arguments.node, f"{spelled(dotted)}()")
    return NONE


@function(*names(Role.OPTIMIZER_STEP))
def optimizer_step(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Reduce the gradients and step; a barrier only if asked."""
    reduce(machine, arguments.node, spelled(dotted))
    machine.collective(arguments.node, spelled(dotted))
    for optimizer in options(arguments.get(0, "optimizer") or UNKNOWN):
        if isinstance(optimizer, Instance):
            run_step(machine, optimizer, Arguments(arguments.node, []))
    machine.optimizer_step(arguments.node, Location.DEVICE)
    barrier = arguments.get(1, "barrier")
    if isinstance(barrier, Number) and barrier.const:
        machine.barrier(arguments.node, f"{spelled(dotted)}(barrier=True)")
    elif barrier is not None and not (isinstance(barrier, Number) and barrier.const is False):
        machine.opaque()
    return NONE


@function(*names(Role.STEP_REGION, Role.TRACED_STEP, Role.TRACE))
def region(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A region that ends in a barrier (a plain trace does not)."""
    return Instance(None, dotted, node=arguments.node)


@manager(*names(Role.STEP_REGION, Role.TRACED_STEP))
def run_region(machine: Machine, region: Instance, body: Body, node: nodes.NodeNG) -> None:
    """The end of the region is a barrier; a step region begins with one too."""
    if role_of(region.library) is Role.STEP_REGION:
        machine.barrier(node, spelled(region.library), silent=True)
    body(UNKNOWN)
    if machine.at.state is not None:
        machine.barrier(node, spelled(region.library), silent=True)


@function(*names(Role.COMPILE))
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
    if value is not None:
        return value
    backend = backend_of(dotted)
    region = next(iter(backend.names(Role.STEP_REGION)), None) if backend is not None else None
    return Instance(None, region, node=arguments.node) if region is not None else UNKNOWN


@methods_of_each(names(Role.STEP_REGION), "__call__")
def step_as_decorator(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """A compiler that is called without a function, `compile(full_graph=True)`, decorates one."""
    value = arguments.get(0)
    if isinstance(value, Function):
        value.compiled = True
        return value
    return None


@function(*names(Role.HOST_REDUCE, Role.RENDEZVOUS))
def host_collective(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A collective through the host: a barrier for what follows."""
    machine.barrier(arguments.node, spelled(dotted), silent=True, waits=True)
    return NUMBER if role_of(dotted) is Role.HOST_REDUCE else NONE


@function(*names(Role.IDLE))
def nothing(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """What neither reads nor cuts."""
    return NONE


@function(*names(Role.PRINT))
def master_print(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """`print` on one replica."""
    with machine.under([Condition.RANK]):
        machine.read_each(arguments, How.FORMAT, spelled(dotted), materialises=True)
    return NONE


@function(*names(Role.RANK), "torch.distributed.get_rank")
def rank(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A number that differs between replicas."""
    return RANK


@function(*names(Role.COUNT))
def device_count(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """How many devices or replicas there are."""
    return NUMBER


SHARDING = frozenset(name for backend in BACKENDS for name in backend.wrappers if name[:1].isupper())
"""The classes that move the parameters to the device as they shard them (source of torch_xla 2.9)."""
WRAPPERS = frozenset({"DistributedDataParallel"}).union(*(backend.wrappers for backend in BACKENDS))


@function(*names(Role.CHECKPOINT))
def checkpoint(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A function is called, and called again for the backward pass."""
    inner = arguments.get(0)
    return machine.call(inner, Arguments(arguments.node, arguments.positional[1:])) if inner else UNKNOWN


@function(*names(Role.SEND))
def send(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Host tensors are transferred."""
    return Tensor(Location.DEVICE, MATERIALISED, unstructured=True)


@function(*names(Role.FETCH))
def fetch(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Everything is fetched from the device."""
    value = arguments.get(0) or NONE
    last = dotted.rpartition(".")[2]
    machine.read(arguments.node, arguments.node_of(0), value, How.VALUE, last, materialises=True)
    return UNKNOWN


@function(*names(Role.OTHER))
def other(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """The rest of a backend neither reads nor cuts; a wrapper gives what it wraps."""
    last = dotted.rpartition(".")[2]
    if last in WRAPPERS:
        wrapped = arguments.get(0) or UNKNOWN
        if last in SHARDING:
            shard(machine, wrapped, arguments.node)
        return wrapped
    machine.hand_over(arguments)
    return UNKNOWN


def shard(machine: Machine, value: Value, node: nodes.NodeNG) -> None:
    """Give a model parameters on the device."""
    for model in options(value):
        if isinstance(model, Instance) and model.model:
            move_parameters(machine, model, Location.DEVICE, node)
            place_model(machine, model, Location.DEVICE)


@function(*names(Role.TRACKER))
def make_rate_tracker(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A tracker of host numbers."""
    return Instance(None, dotted, node=arguments.node)


@methods_of_each(names(Role.TRACKER))
def rate_tracker(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """What it tells are numbers of the host."""
    return NUMBER
