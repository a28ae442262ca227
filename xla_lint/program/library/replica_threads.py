"""One thread for each device: `DataParallel(net, device_ids=devices)(loop, loader)` of torch_xla.

The function is given the model on its device, a device loader, the device, and an object that keeps what the thread
made (by the source of torch_xla 2.9). In the first releases the loader gave the number of each batch beside it.
Without devices the function is run on the host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.backend import names
from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.definitions import Class, Function
from xla_lint.program.domain.values import NUMBER, UNKNOWN, Device, Instance, Location, Sequence, Stream, Value
from xla_lint.program.library.data import wrap
from xla_lint.program.library.networks import place_model
from xla_lint.program.library.registry import function, methods_of_each
from xla_lint.program.machine.arguments import Arguments

if TYPE_CHECKING:
    from xla_lint.program.machine.machine import Machine

NETWORK = "*network"
"""The attribute that holds the model."""
OWN = frozenset({"loop_fn", "loader", "batchdim"})
"""The arguments of a run that the function is not given."""
CONTEXT = ".context"
"""What stands behind the name of the class for the object that a thread keeps things on."""


@function(*names(Role.THREADS))
def build_threads(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A model for each device, of one that is given or made by a class or a function."""
    network, devices = arguments.get(0, "network") or UNKNOWN, arguments.get(1, "device_ids")
    if isinstance(devices, Sequence) and devices.items == []:
        return UNKNOWN
    model = machine.call(network, Arguments(arguments.node, [])) if isinstance(network, (Class, Function)) else network
    if isinstance(model, Instance):
        place_model(machine, model, Location.DEVICE)
    return Instance(None, dotted, {NETWORK: model}, node=arguments.node)


@methods_of_each(names(Role.THREADS), "__call__")
def run_threads(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """Each thread runs the function; the results are a list."""
    target, host = arguments.get(0, "loop_fn"), arguments.get(1, "loader")
    if not isinstance(target, Function) or host is None:
        return None
    loader = wrap(host, arguments.node)
    loader.made = machine.loops
    batches = Stream(UNKNOWN, pieces=(Stream(NUMBER, counted=True), loader)) if counts(target) else loader
    model = receiver.attributes.get(NETWORK, UNKNOWN)
    given = [model, batches, Device(Location.DEVICE), Instance(None, receiver.library + CONTEXT, node=arguments.node)]
    options = {word: value for word, value in arguments.keywords.items() if word not in OWN}
    return Sequence(None, machine.call(target, Arguments(arguments.node, given, options)))


def counts(target: Function) -> bool:
    """Whether a function takes a number and a batch from its loader: `for i, (x, y) in loader`."""
    parameters = [parameter.name for parameter in target.node.args.args or []]
    return len(parameters) > 1 and any(
        isinstance(loop.iter, nodes.Name)
        and loop.iter.name == parameters[1]
        and isinstance(loop.target, nodes.Tuple)
        and any(isinstance(part, nodes.Tuple) for part in loop.target.elts[1:])
        for loop in target.node.nodes_of_class(nodes.For)
    )


@methods_of_each([name + CONTEXT for name in names(Role.THREADS)], "getattr_or")
def keep(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """What the thread keeps under a name: made at first by the function that is given, or given itself."""
    default = arguments.get(1, "defval") or UNKNOWN
    return machine.call(default, Arguments(arguments.node, [])) if isinstance(default, Function) else default
