"""Names of files, as Python's own library lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.values import TEXT, Sequence, Value
from xla_lint.program.library.registry import function

if TYPE_CHECKING:
    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine


@function("glob.glob", "glob.iglob", "os.listdir")
def listed(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Names, the same on each replica of a host."""
    return Sequence(None, TEXT)
