"""Where the machine stands: all that a call, a loop or an error must put back as it was."""

from __future__ import annotations

from dataclasses import dataclass, fields
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.domain.compilations import Compilation
    from xla_lint.program.domain.contexts import CallSite
    from xla_lint.program.domain.loops import Loop
    from xla_lint.program.domain.state import Frame, State

MODULE = 0
"""The entry point that the top level of a module is."""
CONSTRUCTORS = -1
"""The entry point that all constructors without a caller in sight are: they run before any method of their object."""


@dataclass(slots=True, eq=False)
class Position:
    """One place in the run of a program. Its parts are immutable or are replaced, so that a copy is a whole picture."""

    frame: Frame
    state: State | None
    """None where no path arrives."""
    loops: tuple[Loop, ...] = ()
    """The loops around, outermost first, those of the callers included."""
    calls: tuple[CallSite, ...] = ()
    """The calls that led here, outermost first."""
    active: tuple[nodes.NodeNG, ...] = ()
    """The functions that are being run, outermost first."""
    tests: tuple[int, ...] = ()
    """For each test around whose answer is not known, how many loops were around it."""
    doubt: int = -1
    """How many loops are around the innermost test that lets the code here run or not, without a say on how often; -1
    where there is none."""
    catching: int = 0
    """How many `try` statements with handlers are around."""
    closure: bool = False
    """Inside the callback of a step closure."""
    callback: bool = False
    """Inside a function that other code calls again and again."""
    in_forward: bool = False
    """While a model's `forward` runs."""
    replicated: bool = False
    """In code that each replica runs in a process of its own."""
    unrolled: int = 1
    """How often what runs here is run in a row, because comprehensions around go item by item."""
    compiled: Compilation | None = None
    """In code that a native backend's compiler traces."""
    entry_point: int = MODULE
    """Which entry point is being run: `MODULE`, `CONSTRUCTORS`, or one of those that have no caller in sight."""

    def entering(self, frame: Frame, state: State, call: CallSite | None) -> Position:
        """Where a function's body begins that is called here."""
        return Position(
            frame,
            state,
            self.loops,
            self.calls if call is None else (*self.calls, call),
            (*self.active, frame.node) if frame.node is not None else self.active,
            self.tests,
            self.doubt,
            self.catching,
            self.closure,
            self.callback,
            self.in_forward,
            self.replicated,
            self.unrolled,
            self.compiled,
            self.entry_point,
        )

    def copy(self) -> Position:
        """The same place, which then stays as it is."""
        return Position(*_all_of_position(self))

    def take(self, other: Position) -> None:
        """Stand where another position stands."""
        for name in _PARTS:
            setattr(self, name, getattr(other, name))


_PARTS = tuple(part.name for part in fields(Position))
_all_of_position = attrgetter(*_PARTS)
