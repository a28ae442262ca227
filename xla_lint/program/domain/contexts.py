"""Where something happens: the loops around, the conditions that hold, and the calls that led there."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.domain.compilations import Compilation
    from xla_lint.program.domain.definitions import Function
    from xla_lint.program.domain.loops import Loop


class Condition(enum.Enum):
    """What decides whether the code under a test runs."""

    __hash__ = object.__hash__

    PERIODIC = "every few steps"
    ONCE = "in one step of the whole loop"
    """Such a condition is `PERIODIC` as well."""
    RANK = "some replicas only"
    DATA = "a value read from the device"
    RANDOM = "a random number drawn on the host"
    SETTING = "something that the source does not decide"


UNDECIDED = frozenset({Condition.DATA, Condition.RANDOM, Condition.SETTING})
"""The conditions that do not say how often they hold."""


@dataclass(slots=True, unsafe_hash=True)
class CallSite:
    """One call on the way to an event: the called function's name and the line of the call."""

    function: str
    line: int
    depth: int
    """How many loops were around the call."""
    node: nodes.NodeNG | None = field(default=None, compare=False)
    """The call."""
    caller: Function | None = field(default=None, compare=False)
    """The function in which it stands; None for a module's top level."""


class Constraint(NamedTuple):
    """A condition that holds, and how many loops were around the test that set it."""

    condition: Condition
    depth: int
    calls: int = 0
    """How many calls had led to the test."""


@dataclass(slots=True, eq=False)
class Context:
    """Where an event happens, across calls."""

    loops: tuple[Loop, ...]
    """The loops around the event, outermost first, those of the callers included."""
    path_condition: frozenset[Constraint]
    """Every condition that holds, from the entry point on."""
    stack: tuple[CallSite, ...]
    """Every call from the entry point on, outermost first."""
    closure: bool
    """True inside the callback of a step closure, which runs after the barrier."""
    callback: bool
    """True inside a function handed to other code to be called again and again (a collator, `map`)."""
    replicated: bool = False
    """True in code that several replicas run, each in a process of its own."""

    module: nodes.Module | None = None
    """The module in which the event happens."""
    doubt: int = -1
    """How many loops are around the innermost test that lets it happen or not, without a say on how often; -1: none."""
    compiled: Compilation | None = None
    """The compilation in whose code it happens, on a backend that runs the rest as the program comes to it."""
    left: frozenset[Loop] = frozenset()
    """The loops that the path ends: what happens on it happens once, not in every turn."""

    def leaving(self, loops: frozenset[Loop]) -> Context:
        """The same place on a path that ends these loops too."""
        left = self.left | loops
        if len(left) == len(self.left):
            return self
        return replace(self, left=left)

    @property
    def step(self) -> Loop | None:
        """The innermost step loop around the event, or None outside step code."""
        depth = self._step_depth()
        return self.loops[depth - 1] if depth else None

    @property
    def conditions(self) -> frozenset[Condition]:
        """The conditions that hold inside the innermost step loop's body; a test on the rank counts from anywhere."""
        depth = self._step_depth()
        return frozenset(
            constraint.condition
            for constraint in self.path_condition
            if constraint.depth >= depth or constraint.condition is Condition.RANK
        )

    @property
    def calls(self) -> tuple[CallSite, ...]:
        """The calls that led from the step loop (or the entry point) to the event, outermost first."""
        depth = self._step_depth()
        return tuple(site for site in self.stack if site.depth >= depth)

    @property
    def periodic(self) -> bool:
        """True where the event happens only every few steps."""
        return Condition.PERIODIC in self.conditions

    @property
    def once(self) -> bool:
        """True where the event happens in one step of the whole loop."""
        return Condition.ONCE in self.conditions

    @property
    def every_turn(self) -> bool:
        """False where a test that the source does not decide may keep turns of the step loop from it."""
        return self.doubt < self._step_depth() and self.conditions.isdisjoint(UNDECIDED)

    def _step_depth(self) -> int:
        for depth in range(len(self.loops), 0, -1):
            loop = self.loops[depth - 1]
            if loop.is_step and loop not in self.left:
                return depth
        return 0
