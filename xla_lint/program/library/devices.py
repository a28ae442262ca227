"""How programs name the lazy device, and what is known of a device that is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend import backend_of, device_types, names
from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.definitions import Function
from xla_lint.program.domain.values import (
    FACT,
    NONE,
    NUMBER,
    UNKNOWN,
    Choice,
    Device,
    Location,
    Name,
    Number,
    Tensor,
    Text,
    Value,
    options,
)
from xla_lint.program.library.registry import function, manager

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.backend.backend import Backend
    from xla_lint.program.library.registry import Body
    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine

NAMING = frozenset({"torch.device", "torch.set_default_device"})
"""Functions that only name a device: unlike all others that take one they leave the runtime as it is."""
HOST = "cpu"


def type_of(machine: Machine, place: Location) -> str | None:
    """The type of a `torch.device` in a place; None where it cannot be told."""
    if place is Location.DEVICE:
        return machine.backend.device_type
    return HOST if place is Location.HOST else None


def reaches(machine: Machine, target: Value | None) -> bool:
    """Whether making or moving something to a device initialises its runtime, which naming the device does not.

    A device that was asked for by a call of the backend has initialised it already.
    """
    if target is None:
        return False
    given = options(target)
    named = all(isinstance(option, Text) for option in given)
    certain = all(isinstance(option, Text) or (isinstance(option, Device) and option.certain) for option in given)
    places = {place_named(option, machine.backend) for option in given}
    return places == {Location.DEVICE} and certain and (named or not machine.here.touched.always)


def is_device(value: Value | None, backend: Backend) -> bool:
    """Whether an argument names a device of a backend."""
    return any(
        isinstance(option, (Device, Text)) and place_named(option, backend) is Location.DEVICE
        for option in options(value if value is not None else NONE)
    )


def place_named(value: Value | None, backend: Backend) -> Location | None:
    """The place that a device argument names in a program for a backend.

    None where it names no device, UNKNOWN where it cannot be told, or where that device is not on the machine.
    """
    if value is None or value is NONE or isinstance(value, (Name, Function, Number)):
        return None
    if isinstance(value, (Device, Tensor)):
        return value.place
    if isinstance(value, Text):
        kind, index, _ = (value.const or value.opening).partition(":")
        if value.const is None and not index:
            return Location.UNKNOWN
        return Location.DEVICE if kind in device_types(backend) else Location.HOST if kind == HOST else Location.UNKNOWN
    if isinstance(value, Choice) and any(place_named(option, backend) is Location.DEVICE for option in value.options):
        return Location.DEVICE
    return Location.UNKNOWN


@manager(Device, Choice)
def make_on_device(machine: Machine, value: Value, body: Body, node: nodes.NodeNG) -> None:
    """What the body makes lives on the device. Of several managers, only a device has a meaning."""
    devices = [option for option in options(value) if isinstance(option, Device)]
    if not devices:
        body(value)
        return
    around = machine.here.device
    machine.here.device = next((device for device in devices if device.place is Location.DEVICE), devices[0])
    body(value)
    if machine.at.state is not None:
        machine.at.state.device = around


@function("torch.device")
def device(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A device by its name."""
    place = place_named(arguments.get(0, "type") or arguments.keywords.get("device"), machine.backend)
    return Device(place if place is not None else Location.UNKNOWN)


@function("torch.accelerator.current_accelerator")
def current_accelerator(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """The device of a native backend, which is torch's accelerator; of others nothing is known."""
    return Device(Location.DEVICE) if machine.aim.is_native else UNKNOWN


@function("torch.accelerator.is_available")
def accelerator_is_available(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Whether torch has an accelerator: a native backend is one. To ask starts its runtime."""
    touch(machine, arguments, dotted)
    return Number(True, traits=FACT) if machine.aim.is_native else UNKNOWN


@function(*names(Role.PRESENCE))
def is_present(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Whether the device of a native backend is there: it is in a program that runs on it."""
    return Number(backend_of(dotted) is machine.backend, traits=FACT)


@function(*names(Role.START))
def start(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """What starts the runtime tells the number of the process's device, or sets it."""
    touch(machine, arguments, dotted)
    return NONE if dotted.endswith("set_device") else NUMBER


def touch(machine: Machine, arguments: Arguments, dotted: str) -> None:
    """Let the runtime of the device start here."""
    machine.here.touched = machine.here.touched.by(machine.touches.bit(arguments.node, dotted))


@function("torch.set_default_device")
def set_default_device(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """What is made from here on lives on this device."""
    given = options(arguments.get(0, "device") or UNKNOWN)
    places = {place_named(option, machine.backend) for option in given}
    certain = not any(isinstance(option, Device) and not option.certain for option in given)
    place = Location.DEVICE if Location.DEVICE in places else places.pop() if len(places) == 1 else Location.UNKNOWN
    machine.default_device = Device(place or Location.HOST, certain)
    return NONE
