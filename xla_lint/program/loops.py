"""Which loops are step loops: what a loop's body does, and what follows from it."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xla_lint.program.values import Instance, Sequence, element_of

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.values import Loader, Value


class Cut(enum.IntEnum):
    """Whether an iteration passes a barrier."""

    NEVER = 0
    SOMETIMES = 1
    ALWAYS = 2


class Form(enum.Enum):
    """What makes the code run again and again."""

    LOOP = "loop"
    FORWARD = "forward"
    """A module's `forward` without a caller in sight."""
    HOOK = "hook"
    """A method that a framework calls every step."""
    STEP = "step"
    """A function without a caller in sight that performs one whole training step."""


@dataclass(slots=True, eq=False)
class CutSite:
    """A barrier inside a loop, seen from that loop."""

    node: nodes.NodeNG
    periodic: bool
    """True where a test on a step counter guards it."""
    conditional: bool
    """True where any test inside the loop guards it."""
    spelled: str


@dataclass(slots=True, eq=False)
class Loop:
    """A loop of the program, in one context, and what its body was seen to do.

    "Directly" means: in the loop's own body or in functions called from it, but not in a loop inside it.
    """

    node: nodes.NodeNG
    form: Form
    function: str
    """The name of the function around it, empty at module level."""
    parent: Loop | None = None
    children: list[Loop] = field(default_factory=list)
    in_forward: bool = False
    """True inside a module's `forward`: such a loop is unrolled into the step's graph."""
    cut: Cut = Cut.NEVER
    """Whether an iteration passes a barrier, on the paths that come round again."""
    cuts: list[CutSite] = field(default_factory=list)
    own_cut: bool = False
    """A barrier stands directly in it."""
    loader: Loader | None = None
    """The loader it iterates."""
    iterable: Value | None = None
    """What it iterates, once known for every turn of the loops around it; None for `while`."""
    backward: bool = False
    """`backward()` of a device tensor, directly."""
    optimizer: bool = False
    """An optimizer step, directly."""
    model: bool = False
    """A call of a model on the device, directly."""
    opaque: bool = False
    """A call directly inside it cannot be followed, and might be a barrier."""
    computes: bool = False
    """Operations on the device are recorded, directly."""
    moved: bool = False
    """A batch of a plain loader is moved to the device by hand."""
    chosen: bool = False
    """Values of a plain loader's batch decide on the host what is done in an iteration."""
    sure: bool = True
    """False where no caller is in sight, so that what runs in it is told by use alone."""
    carries: bool = False
    """Something recorded in one iteration is kept for the next: the graph of the steps is one chain."""
    turn: int = 0
    """How often its body has been run by the analysis."""
    feeds: Loop | None = None
    """The loop that takes one item for each turn of this one, which yields them."""
    fed_by: list[Loop] = field(default_factory=list)
    """The loops of generators each of whose turns gives this one an item."""
    anchored: bool = True
    """False in a function without a caller in sight, outside `no_grad`: it may be part of a model."""

    settled: bool | None = None
    """Whether it is a step loop, once the analysis is over."""

    @property
    def line(self) -> int:
        """The line of the loop's head."""
        return int(self.node.lineno or 0)

    @property
    def trains(self) -> bool:
        """True where the body itself performs a training step, or part of one."""
        return self.backward or self.optimizer

    @property
    def wrapped(self) -> bool:
        """True where the loop's own `next()` is a barrier."""
        return self.loader is not None and self.loader.wrapped

    @property
    def drives(self) -> bool:
        """True where the body's own work shows that an iteration is a step, or part of one."""
        return self.trains or self.wrapped or (self.loader is not None and (self.model or self.moved))

    @property
    def is_step(self) -> bool:
        """True for a loop that trains, evaluates or decodes on the device.

        An epoch loop is none, whatever barriers it holds: its work is done by the loops inside it. Nor is a loop
        that is unrolled into the graph of the step around it. A loop that yields this one its items is part of it.
        """
        return self._looks_like_step() if self.settled is None else self.settled

    def settle(self) -> None:
        """Decide for good whether this is a step loop: nothing more will be seen in it."""
        self.settled = self._looks_like_step()

    def _looks_like_step(self) -> bool:
        if self.form is not Form.LOOP or self.drives or any(loop.drives for loop in self.fed_by):
            return True
        if self.in_forward or any(inner.drives for inner in self.inside() if inner.feeds is not self):
            return False
        if self.own_cut:
            return self.computes or self.model or any(inner.computes or inner.model for inner in self.inside())
        return self.model and self.anchored and not self.inside_step and not self._over_models()

    def _over_models(self) -> bool:
        """Whether each turn takes another model, as an ensemble does: all of them see one batch."""
        value = self.iterable
        element = element_of(value) if isinstance(value, Sequence) else value
        return isinstance(element, Instance) and element.model

    def around(self) -> Iterator[Loop]:
        """The loops around this one, innermost first."""
        outer = self.parent
        while outer is not None:
            yield outer
            outer = outer.parent

    def inside(self) -> Iterator[Loop]:
        """The loops inside this one, at any depth."""
        for child in self.children:
            yield child
            yield from child.inside()

    @property
    def inside_step(self) -> bool:
        """True where a loop around it is a step loop by its own work."""
        return any(
            around.form is not Form.LOOP
            or around.drives
            or (around.own_cut and not any(inner.drives for inner in around.inside()))
            for around in self.around()
        )

    @property
    def changes_graphs(self) -> bool:
        """True where each iteration is a graph of its own, so that what changes between them is compiled anew."""
        if self.feeds is not None:
            return self.feeds.changes_graphs
        if self.form is not Form.LOOP:
            return True
        return self.is_step and (self.cut is not Cut.NEVER or bool(self.cuts) or self.wrapped)

    def describe(self) -> str:
        """Where the code runs, as a message says it."""
        if self.form is Form.LOOP:
            return f"in the step loop of line {self.line}"
        if self.form is Form.FORWARD:
            return f"in '{self.function}', which runs every step"
        return f"in '{self.function}', which is called every step"
