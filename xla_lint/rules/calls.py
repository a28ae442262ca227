"""The library calls of a whole program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import LibraryCall

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.interpreter.analysis import Program


def calls_of(program: Program, *names: str) -> Iterator[LibraryCall]:
    """The calls of these dotted names, in the order in which they happen."""
    if program.called.isdisjoint(names):
        return iter(())
    return (event for event in program.events if isinstance(event, LibraryCall) and event.name in names)


def calls(program: Program, *names: str) -> bool:
    """Whether a program calls one of these dotted names at all."""
    return not program.called.isdisjoint(names)
