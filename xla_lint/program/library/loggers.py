"""`logging`: which messages are formatted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import How
from xla_lint.program.domain.loaders import Logger
from xla_lint.program.domain.values import NONE, NUMBER, Name, Number, Text, Value
from xla_lint.program.library.compilers import note_break
from xla_lint.program.library.registry import function, methods

if TYPE_CHECKING:
    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine

LEVELS = {"debug": 10, "info": 20, "warning": 30, "warn": 30, "error": 40, "exception": 40, "critical": 50, "fatal": 50}
LEVEL_NAMES = {"NOTSET": 0, "DEBUG": 10, "INFO": 20, "WARNING": 30, "WARN": 30, "ERROR": 40, "CRITICAL": 50}


@function("logging.getLogger", "accelerate.logging.get_logger", "transformers.utils.logging.get_logger")
def logger(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A logger; without a name, the root's."""
    return Logger(root=machine.root_logger) if arguments.positional or arguments.keywords else machine.root_logger


@function(*(f"logging.{name}" for name in (*LEVELS, "log")))
def log_to_root(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """A message to the root logger."""
    return logger_method(machine, machine.root_logger, dotted.rpartition(".")[2], arguments) or NONE


@function("logging.basicConfig")
def configure(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Importing torch_xla leaves a root handler, so that this call does nothing unless it is forced."""
    forced = arguments.keywords.get("force")
    if machine.aim.is_native or (isinstance(forced, Number) and forced.const):
        machine.root_logger.level = level_of(arguments.keywords.get("level"))
    return NONE


@methods(Logger)
def logger_method(machine: Machine, receiver: Logger, name: str, arguments: Arguments) -> Value | None:
    """Logging formats its arguments if the level is on."""
    if name == "setLevel":
        receiver.level = level_of(arguments.get(0, "level"))
        return NONE
    if name == "isEnabledFor":
        return NUMBER
    offset = 1 if name == "log" else 0
    level = level_of(arguments.get(0)) if name == "log" else LEVELS.get(name)
    if level is None:
        return NONE
    note_break(machine, arguments.node, f"logging.{name}")
    machine.read_each(arguments, How.FORMAT, f"logging.{name}", first=offset, logger=receiver, level=level)
    return NONE


def level_of(value: Value | None) -> int:
    """A logging level as a number, 0 where it cannot be told."""
    if isinstance(value, Number) and value.const is not None:
        return int(value.const)
    if isinstance(value, Name) and value.dotted.startswith("logging."):
        return LEVEL_NAMES.get(value.dotted.rpartition(".")[2], 0)
    if isinstance(value, Text) and value.const is not None:
        return LEVEL_NAMES.get(value.const.upper(), 0)
    return 0
