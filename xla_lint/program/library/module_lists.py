"""Containers of modules: `Sequential`, `ModuleList`, `ModuleDict`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.values import TEXT, UNKNOWN, Instance, Location, Mapping, Sequence, Stream, Value, options
from xla_lint.program.library.registry import methods

if TYPE_CHECKING:
    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine

CONTAINERS = ("torch.nn.ModuleList", "torch.nn.Sequential", "torch.nn.ModuleDict", "torch.nn.ParameterList")


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


def change(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """Modules are added to a container."""
    value = arguments.get(1 if name == "insert" else 0) or UNKNOWN
    add(machine, receiver, machine.iterate(value, None, arguments.node) if name == "extend" else value)
    return receiver


for container in CONTAINERS:
    methods(container, "append", "extend", "insert")(change)


@methods("torch.nn.", "items", "values", "keys")
def view(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """The names of the modules in a `ModuleDict`, the modules, or both."""
    module = receiver.attributes.get("*", Instance(None, "torch.nn.Module", model=True, certain=False))
    if name == "values":
        return Stream(module)
    return Stream(UNKNOWN, pieces=(Stream(TEXT), Stream(module))) if name == "items" else Stream(TEXT)
