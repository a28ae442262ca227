"""Progress bars: they pass items on, and format what they show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import How
from xla_lint.program.domain.loaders import Loader
from xla_lint.program.domain.values import NONE, NUMBER, UNKNOWN, Instance, Stream, Value
from xla_lint.program.library.registry import function, methods

if TYPE_CHECKING:
    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine


@function("tqdm.tqdm", "tqdm.trange", "rich.progress.track", "tqdm.rich.tqdm")
def progress(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A progress bar yields what it is given."""
    if dotted.endswith("trange"):
        return Stream(NUMBER, counted=True)
    value = arguments.get(0, "iterable")
    if value is None:
        return Instance(None, "tqdm.tqdm", node=arguments.node)
    return value if isinstance(value, Loader) else Stream(UNKNOWN, source=value)


@methods("tqdm.tqdm")
@methods("tqdm.trange")
def progress_method(machine: Machine, receiver: Instance, name: str, arguments: Arguments) -> Value | None:
    """A progress bar formats what it shows."""
    return bar_method(machine, receiver, name, arguments)


@function("tqdm.tqdm.write")
def progress_write(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A line beside the bar."""
    return bar_method(machine, NONE, "set_postfix", arguments)


def bar_method(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value:
    """A progress bar formats what it shows."""
    if name in ("set_postfix", "set_postfix_str", "set_description"):
        for value in arguments.values():
            machine.read(arguments.node, None, value, How.FORMAT, name, materialises=False)
    return NONE
