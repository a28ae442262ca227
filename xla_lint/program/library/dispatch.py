"""What the machine asks of libraries: to call, to enter, to iterate, to give an attribute."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from xla_lint.program.backend import initialises
from xla_lint.program.domain.events import LibraryCall
from xla_lint.program.domain.locations import device_tensors
from xla_lint.program.domain.objects import is_open, items_of
from xla_lint.program.domain.values import UNKNOWN, Instance, Name, Tensor, Value
from xla_lint.program.library.compilers import BREAKING, note_break
from xla_lint.program.library.devices import NAMING, reaches
from xla_lint.program.library.optimizers import build_other_optimizer, holds_gradients, is_built_like_one
from xla_lint.program.library.registry import ATTRIBUTES, FUNCTIONS, ITERATIONS, MANAGERS, METHODS
from xla_lint.program.syntax.names import is_foreign

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.domain.loops import Loop
    from xla_lint.program.library.registry import Body
    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine

QUIET = ("builtins.", "logging.", "math.", "random.", "time.", "os.", "collections.")
"""Packages whose calls no rule subscribes to."""
NUMPY = "numpy."
"""Its calls count where they are given device tensors."""
MOVES = frozenset({"to", "cuda"})
"""Methods by which even an unknown object is seen to move to a device."""
TELLING = frozenset({"step", "set_epoch"})
"""Methods that are listened to whatever they are called on: it may be a scaler, or lead to a sampler."""
HARMLESS = frozenset({"parameters", "named_parameters", "buffers", "named_buffers"})
"""Methods that do no more than their name says, whatever they are called on."""
MODULE = "torch.nn.Module"


@lru_cache(maxsize=4096)
def is_quiet(dotted: str) -> bool:
    """Whether no rule subscribes to calls of a dotted name."""
    return dotted.startswith((*QUIET, NUMPY))


def call_library(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """The result of calling something outside the project."""
    if not is_quiet(dotted) or (dotted.startswith(NUMPY) and device_tensors(arguments.values())):
        announce(machine, dotted, arguments)
    device = arguments.keywords.get("device") if dotted.startswith("torch.") and dotted not in NAMING else None
    if initialises(dotted, machine.target) or reaches(machine, device):
        machine.here.touched = machine.here.touched.by(machine.touches.bit(arguments.node, dotted))
    if dotted in BREAKING:
        note_break(machine, arguments.node, dotted.removeprefix("builtins."))
    handler = FUNCTIONS.find(dotted)
    if handler is not None:
        return handler(machine, dotted, arguments)
    if is_built_like_one(dotted, arguments):
        return build_other_optimizer(arguments)
    machine.hand_over(arguments)
    if not is_foreign(dotted):
        machine.opaque(reduces=machine.exposed)
    return UNKNOWN


def call_method(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value:
    """The result of calling a method of a value that the project does not define."""
    receiver = items_of(receiver) or receiver
    if is_movable(receiver) and reaches(machine, target_of(name, arguments)):
        machine.here.touched = machine.here.touched.by(machine.touches.bit(arguments.node, f"torch.{name}"))
    owner = announced_owner(receiver, name)
    if owner:
        announce(machine, f"{owner}.{name}", arguments, receiver)
    for handler in METHODS.for_object(receiver, name):
        result = handler(machine, receiver, name, arguments)
        if result is not None:
            return result
    machine.hand_over(arguments)
    if name not in HARMLESS and not is_of_library(receiver):
        machine.opaque(reduces=machine.exposed or holds_gradients(receiver))
    return UNKNOWN


def announce(machine: Machine, dotted: str, arguments: Arguments, receiver: Value | None = None) -> None:
    """Let the rules know of a call."""
    given = tuple(arguments.positional)
    node, keywords, unpacked = arguments.node, arguments.keywords, arguments.unpacked
    machine.emit(LibraryCall(node, machine.context, dotted, given, keywords, unpacked, receiver))


def announced_owner(receiver: Value, method: str) -> str:
    """The class under which rules hear of a method's call; empty where none wants to."""
    if isinstance(receiver, Instance) and not is_open(receiver):
        library = receiver.library or MODULE
        return "" if is_quiet(library) else library
    if isinstance(receiver, Tensor):
        return "torch.Tensor"
    unknown = receiver is UNKNOWN or is_open(receiver)
    return "?" if method in TELLING or (unknown and method in MOVES) else ""


def is_movable(value: Value) -> bool:
    """Whether a value is, or may be, something that lives on a device."""
    return value is UNKNOWN or isinstance(value, Tensor) or (isinstance(value, Instance) and value.model)


def target_of(method: str, arguments: Arguments) -> Value | None:
    """The device that a method is told, if it is."""
    return arguments.keywords.get("device") or (arguments.get(0) if method == "to" else None)


def is_of_library(value: Value) -> bool:
    """Whether a value surely belongs to a library, so that its methods cannot run the project's own code."""
    if isinstance(value, Instance):
        return bool(value.library) and is_foreign(value.library)
    return isinstance(value, Name) and is_foreign(value.dotted)


def attribute_of(machine: Machine, value: Instance, name: str, node: nodes.NodeNG) -> Value | None:
    """What is known of an attribute that neither the program nor a class of the project sets; else None."""
    for handler in ATTRIBUTES.for_object(value):
        found = handler(machine, value, name, node)
        if found is not None:
            return found
    return None


def iterate_library(machine: Machine, value: Instance, loop: Loop | None, node: nodes.NodeNG) -> Value:
    """What iterating a library object yields."""
    for handler in ITERATIONS.for_object(value):
        found = handler(machine, value, loop, node)
        if found is not None:
            return found
    if loop is not None and not is_foreign(value.library):
        loop.note_opaque()
    return UNKNOWN


def enter_library(machine: Machine, manager: Value, body: Body, node: nodes.NodeNG) -> None:
    """Run the body of a `with` statement under a context manager that the project does not define."""
    handlers = MANAGERS.for_object(manager)
    if handlers:
        handlers[0](machine, manager, body, node)
        return
    if manager is UNKNOWN or (isinstance(manager, Instance) and manager.library and not is_foreign(manager.library)):
        machine.opaque()
    body(manager)
