"""Errors of our own: each ends the interpretation of one function or statement, and is kept to be told."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

    from astroid import nodes

    from xla_lint.program.machine.machine import Machine


@dataclass(frozen=True, slots=True)
class InternalError:
    """An error inside the engine, and the function or statement that it was busy with."""

    error: Exception
    node: nodes.NodeNG


class Contained(AbstractContextManager["Contained"]):
    """A context that no error of our own leaves: it is added to the faults, and `failed` tells so."""

    def __init__(self, errors: list[InternalError], node: nodes.NodeNG) -> None:
        self.errors = errors
        self.node = node
        self.failed = False

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        """Keep an error; an interruption passes."""
        self.failed = isinstance(error, Exception)
        if isinstance(error, Exception):
            self.errors.append(InternalError(error, self.node))
        return self.failed


class Boundary(Contained):
    """The same around what the machine does: it then stands where it stood before.

    What the failed code changed on shared objects may have happened or not. The loops that it was in are as good as
    not seen: what they lack might have come later. An error of code that runs in another frame, such as the body of a
    `with` statement inside its context manager's function, is left to the boundary of that frame.
    """

    def __init__(self, machine: Machine, node: nodes.NodeNG) -> None:
        super().__init__(machine.errors, node)
        self.machine = machine
        self.mark = machine.heap.mark()
        self.env = machine.here.env
        self.exits = len(machine.at.frame.exits)
        self.at = machine.at
        self.before = replace(machine.at)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        """Take the machine back."""
        machine, before = self.machine, self.before
        if machine.at.frame is not before.frame or not super().__exit__(kind, error, traceback):
            return False
        machine.loop_table.drop(machine.loops[len(before.loops) :])
        self.at.take(before)
        machine.at = self.at
        del before.frame.exits[self.exits :]
        machine.here.env = self.env
        machine.heap.merge({}, machine.heap.take_back(self.mark))
        return True
