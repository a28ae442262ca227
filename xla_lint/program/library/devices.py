"""How programs name the lazy device, and what is known of a device that is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend import DEVICE_TYPES
from xla_lint.program.domain.definitions import Function
from xla_lint.program.domain.values import (
    NONE,
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

    from xla_lint.program.library.registry import Body
    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine

NAMING = frozenset({"torch.device", "torch.set_default_device"})
"""Functions that only name a device: unlike all others that take one they leave the runtime as it is."""
HOST = "cpu"
PLACES = {**dict.fromkeys(DEVICE_TYPES, Location.DEVICE), HOST: Location.HOST}
"""Where the devices of a type are; others are not on the machine of a lazy device."""


def type_of(machine: Machine, place: Location) -> str | None:
    """The type of a `torch.device` in a place; None where it cannot be told."""
    if place is Location.DEVICE:
        return machine.backend.device_type if machine.backend is not None else None
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
    places = {place_named(option) for option in given}
    return places == {Location.DEVICE} and certain and (named or not machine.here.touched)


def is_device(value: Value | None) -> bool:
    """Whether an argument names a lazy device."""
    return any(
        isinstance(option, (Device, Text)) and place_named(option) is Location.DEVICE
        for option in options(value if value is not None else NONE)
    )


def place_named(value: Value | None) -> Location | None:
    """The place that a device argument names; None where it names no device, UNKNOWN where it cannot be told."""
    if value is None or value is NONE or isinstance(value, (Name, Function, Number)):
        return None
    if isinstance(value, (Device, Tensor)):
        return value.place
    if isinstance(value, Text):
        return PLACES.get(value.const.partition(":")[0], Location.UNKNOWN) if value.const else Location.UNKNOWN
    if isinstance(value, Choice) and any(place_named(option) is Location.DEVICE for option in value.options):
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
    place = place_named(arguments.get(0, "type") or arguments.keywords.get("device"))
    return Device(place if place is not None else Location.UNKNOWN)


@function("torch.set_default_device")
def set_default_device(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """What is made from here on lives on this device."""
    given = options(arguments.get(0, "device") or UNKNOWN)
    places = {place_named(option) for option in given}
    certain = not any(isinstance(option, Device) and not option.certain for option in given)
    place = Location.DEVICE if Location.DEVICE in places else places.pop() if len(places) == 1 else Location.UNKNOWN
    machine.default_device = Device(place or Location.HOST, certain)
    return NONE
