"""Who knows what a library's function, method or context manager means."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from xla_lint.knowledge.runtime_calls import initialises
from xla_lint.program.domain.definitions import Function
from xla_lint.program.domain.events import Backward, LibraryCall
from xla_lint.program.domain.values import (
    NONE,
    UNKNOWN,
    Device,
    Instance,
    Location,
    Name,
    Number,
    Tensor,
    Text,
    Value,
    options,
)
from xla_lint.program.library.managers import enter
from xla_lint.program.machine.machine import device_tensors
from xla_lint.program.syntax.names import is_foreign

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.domain.loops import Loop
    from xla_lint.program.machine.machine import Arguments, Machine

T = TypeVar("T")
Handler = Callable[["Machine", str, "Arguments"], Value]
MethodHandler = Callable[["Machine", Value, str, "Arguments"], "Value | None"]

_FUNCTIONS: dict[str, Handler] = {}
_PREFIXES: dict[str, Handler] = {}
_METHODS: dict[type[Value], MethodHandler] = {}
_OBJECTS: dict[str, MethodHandler] = {}

QUIET = ("builtins.", "numpy.", "logging.", "math.", "random.", "time.", "os.", "collections.")
"""Packages whose calls no rule listens to; those of numpy count where they are given device tensors."""
MOVES = frozenset({"to", "cuda"})
"""Methods by which even an unknown object is seen to move to a device."""
TELLING = frozenset({"step", "set_epoch"})
"""Methods that are listened to whatever they are called on: it may be a scaler, or lead to a sampler."""
HARMLESS = frozenset({"parameters", "named_parameters", "buffers", "named_buffers"})
"""Methods that do no more than their name says, whatever they are called on."""
NAMING = frozenset({"torch.device", "torch.set_default_device"})
"""Functions that only name a device: unlike all others that take one they leave the XLA runtime as it is."""


def function(*names: str) -> Callable[[Handler], Handler]:
    """Register what calling these dotted names means. A name that ends in a dot stands for all below it."""

    def register(handler: Handler) -> Handler:
        for name in names:
            (_PREFIXES if name.endswith(".") else _FUNCTIONS)[name] = handler
        return handler

    return register


def methods_of(kind: type[Value]) -> Callable[[MethodHandler], MethodHandler]:
    """Register what the methods of one kind of value mean."""

    def register(handler: MethodHandler) -> MethodHandler:
        _METHODS[kind] = handler
        return handler

    return register


def objects(*prefixes: str) -> Callable[[MethodHandler], MethodHandler]:
    """Register what the methods of library objects mean, by the dotted name of their class or its beginning."""

    def register(handler: MethodHandler) -> MethodHandler:
        for prefix in prefixes:
            _OBJECTS[prefix] = handler
        return handler

    return register


def call_library(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """The result of calling something outside the project."""
    if not dotted.startswith(QUIET) or (dotted.startswith("numpy.") and device_tensors(arguments.values())):
        machine.emit(
            LibraryCall(
                arguments.node,
                machine.context,
                dotted,
                tuple(arguments.positional),
                arguments.keywords,
                arguments.unpacked,
            )
        )
    placing = dotted.startswith("torch.") and dotted not in NAMING
    if initialises(dotted, machine.target) or (placing and reaches(machine, arguments.keywords.get("device"))):
        machine.here.touched |= {(arguments.node, dotted)}
    handler = _FUNCTIONS.get(dotted) or _prefix(dotted, _PREFIXES)
    if handler is not None:
        return handler(machine, dotted, arguments)
    machine.hand_over(arguments)
    if not is_foreign(dotted):
        machine.opaque()
    return UNKNOWN


def call_method(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value:
    """The result of calling a method of a value that the project does not define."""
    target = arguments.keywords.get("device") or (arguments.get(0) if name == "to" else None)
    placing = receiver is UNKNOWN or isinstance(receiver, Tensor) or (isinstance(receiver, Instance) and receiver.model)
    if placing and reaches(machine, target):
        machine.here.touched |= {(arguments.node, f"torch.{name}")}
    if isinstance(receiver, Instance):
        handler = _OBJECTS.get(receiver.library) or _prefix(receiver.library, _OBJECTS)
        if not receiver.library.startswith(QUIET):
            machine.emit(
                LibraryCall(
                    arguments.node,
                    machine.context,
                    f"{receiver.library or 'torch.nn.Module'}.{name}",
                    tuple(arguments.positional),
                    arguments.keywords,
                    arguments.unpacked,
                    receiver,
                )
            )
        if receiver.model and not receiver.library.startswith("torch.nn."):
            result = _OBJECTS["torch.nn."](machine, receiver, name, arguments) if handler is None else None
            if handler is not None:
                result = handler(machine, receiver, name, arguments)
            if result is None:
                result = _OBJECTS["torch.nn."](machine, receiver, name, arguments)
            return result if result is not None else _unknown_method(machine, receiver, name, arguments)
        result = handler(machine, receiver, name, arguments) if handler is not None else None
    else:
        if isinstance(receiver, Tensor) or name in TELLING or (receiver is UNKNOWN and name in MOVES):
            owner = "torch.Tensor" if isinstance(receiver, Tensor) else "?"
            machine.emit(
                LibraryCall(
                    arguments.node,
                    machine.context,
                    f"{owner}.{name}",
                    tuple(arguments.positional),
                    arguments.keywords,
                    arguments.unpacked,
                    receiver,
                )
            )
        if receiver is UNKNOWN and name == "backward" and not arguments.positional:
            machine.emit(Backward(arguments.node, machine.context, None))
        if receiver is UNKNOWN and name == "to" and is_device(arguments.get(0, "device")):
            line = int(arguments.node.lineno or 0)
            return Tensor(Location.DEVICE, line=line, unstructured=True, certain=False, undecided=True)
        method = _METHODS.get(type(receiver))
        result = method(machine, receiver, name, arguments) if method is not None else None
    return result if result is not None else _unknown_method(machine, receiver, name, arguments)


def _unknown_method(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value:
    machine.hand_over(arguments)
    if name in HARMLESS:
        return UNKNOWN
    known = isinstance(receiver, Instance) and receiver.library and is_foreign(receiver.library)
    if not known and not (isinstance(receiver, Name) and is_foreign(receiver.dotted)):
        machine.opaque()
    return UNKNOWN


def enter_library(machine: Machine, manager: Value, body: Callable[[Value], None], node: nodes.NodeNG) -> None:
    """Run the body of a `with` statement under a library's context manager."""
    enter(machine, manager, body, node)


def iterate_library(machine: Machine, value: Instance, loop: Loop | None, node: nodes.NodeNG) -> Value:
    """What iterating a library object yields."""
    inside = value.attributes.get("*")
    if inside is not None:
        return inside
    if value.model:
        return Instance(None, "torch.nn.Module", place=value.place, model=True, certain=False)
    if loop is not None and not is_foreign(value.library):
        loop.opaque = True
    return UNKNOWN


def _prefix(dotted: str, table: dict[str, T]) -> T | None:
    while dotted:
        dotted, _, _ = dotted.rpartition(".")
        found = table.get(dotted + ".")
        if found is not None:
            return found
    return None


def reaches(machine: Machine, target: Value | None) -> bool:
    """Whether making or moving something to a device initialises the XLA runtime, which naming the device does not.

    A device that was asked for by a call of torch_xla has initialised it already.
    """
    if target is None:
        return False
    named = all(isinstance(option, Text) for option in options(target))
    certain = all(
        isinstance(option, Text) or (isinstance(option, Device) and option.certain) for option in options(target)
    )
    places = {place_named(option) for option in options(target)}
    return places == {Location.DEVICE} and certain and (named or not machine.here.touched)


def is_device(value: Value | None) -> bool:
    """Whether an argument names the XLA device."""
    return any(
        (isinstance(o, Device) and o.place is Location.DEVICE)
        or (isinstance(o, Text) and (o.const or "").partition(":")[0] == "xla")
        for o in options(value if value is not None else NONE)
    )


def place_named(value: Value | None) -> Location | None:
    """The place that a device argument names; None where it names no device, UNKNOWN where it cannot be told."""
    if value is None or value is NONE:
        return None
    if isinstance(value, Device):
        return value.place
    if isinstance(value, Text):
        if value.const is None:
            return Location.UNKNOWN
        head = value.const.partition(":")[0]
        return {"xla": Location.DEVICE, "cpu": Location.HOST}.get(head, Location.UNKNOWN)
    if isinstance(value, Tensor):
        return value.place
    if isinstance(value, (Name, Function, Number)):
        return None
    places = {place_named(option) for option in options(value)} if len(options(value)) > 1 else set()
    if Location.DEVICE in places:
        return Location.DEVICE
    return Location.UNKNOWN
