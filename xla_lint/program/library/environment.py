"""The environment of the process: what a program sets there, and what it asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import EnvironmentSet
from xla_lint.program.domain.ranks import ENVIRONMENT, environment_value
from xla_lint.program.domain.values import NONE, UNKNOWN, Mapping, Text, Value, as_setting
from xla_lint.program.library.devices import is_device
from xla_lint.program.library.registry import function

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine


@function("os.getenv", f"{ENVIRONMENT}.get")
def get(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A variable of the environment. A default that is the device of a native backend says what is meant."""
    default = arguments.get(1, "default")
    if machine.aim.is_native and isinstance(default, Text) and is_device(default, machine.backend):
        return as_setting(default)
    return environment_value(arguments.get(0, "key") or UNKNOWN)


@function(f"{ENVIRONMENT}.setdefault", f"{ENVIRONMENT}.__setitem__", "os.putenv")
def put(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A variable is set."""
    note(machine, arguments.node, arguments.get(0, "key") or UNKNOWN, arguments.get(1, "default") or UNKNOWN)
    return UNKNOWN


@function(f"{ENVIRONMENT}.update")
def update(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Several variables are set."""
    given = arguments.get(0)
    entries = {**(given.entries if isinstance(given, Mapping) else {}), **arguments.keywords}
    for name, value in entries.items():
        note(machine, arguments.node, Text(name) if isinstance(name, str) else UNKNOWN, value)
    return NONE


def note(machine: Machine, node: nodes.NodeNG, key: Value, value: Value) -> None:
    """Note that a variable is set, in a program for a native backend, and whether the runtime has started by then."""
    if machine.aim.is_native and isinstance(key, Text) and key.const is not None:
        late = bool(machine.here.touched.always) and not machine.without_caller
        text = value.const if isinstance(value, Text) else None
        machine.emit(EnvironmentSet(node, machine.context, key.const, text, late))
