"""Where an error of our own ends: around each body of a function, and each statement outside functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.machine.internal_errors import Contained

if TYPE_CHECKING:
    from types import TracebackType

    from astroid import nodes

    from xla_lint.program.machine.machine import Machine


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
        self.path_condition = machine.here.path_condition
        self.exits = len(machine.at.frame.exits)
        self.at = machine.at
        self.before = machine.at.copy()

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
        machine.here.path_condition = self.path_condition
        machine.heap.merge({}, machine.heap.take_back(self.mark))
        return True
