"""Which loops are step loops: what a loop's body does, and what follows from it."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xla_lint.program.domain.join import element_of
from xla_lint.program.domain.values import Choice, Instance, Number, Sequence, Stream
from xla_lint.program.domain.walk import EVERYTHING, SOURCES, found_in

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.domain.loaders import Loader
    from xla_lint.program.domain.values import Part, Value

SHORT = 8
"""A loop of at most so many turns may well be meant to be one graph."""
DEPTH = 2
"""How deep containers and objects are looked into for the model that a turn takes."""


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
    used: set[Part] = field(default_factory=set)
    """The parts of a plain loader's batch whose values the host asks for in every iteration."""
    wanted: set[Part] = field(default_factory=set)
    """The parts of a plain loader's batch that are moved to the device, or used with values fetched from there."""
    certain: bool = True
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
        """True where the body itself performs a training step, or part of one, in a loop that is unrolled or not.

        An optimizer step beside a loop that steps an optimizer is the remainder of that loop's steps, unless another
        loop beside it collects gradients.
        """
        if self.backward:
            return True
        steps = self.optimizer or any(child.unrolled and child.trains for child in self.children)
        accumulates = any(child.backward and not child.optimizer for child in self.children)
        return steps and (accumulates or not any(inner.optimizer and not inner.unrolled for inner in self.inside()))

    @property
    def short(self) -> bool:
        """True for a loop of so few turns, by the source's own numbers, that it may be meant to be one graph."""
        return self.iterable is not None and is_short(self.iterable)

    @property
    def unrolled(self) -> bool:
        """True for a loop that passes no barrier, and whose turns are part of one step of the loop around it.

        Such a loop takes one model after the other, or has few turns in a loop that has a barrier of its own, and no
        loop inside with another one.
        """
        around = self.parent
        if around is None or around.form is not Form.LOOP or self.form is not Form.LOOP:
            return False
        if self.loader is not None or self.iterable is None or self.is_cut:
            return False
        if over_models(self.iterable):
            return True
        cut = (around.own_cut or around.wrapped) and not any(inner.is_cut for inner in around.inside())
        return self.short and (cut or around.unrolled)

    @property
    def is_cut(self) -> bool:
        """True where some iteration passes a barrier."""
        return self.cut is not Cut.NEVER or bool(self.cuts) or self.wrapped

    @property
    def wrapped(self) -> bool:
        """True where the loop's own `next()` is a barrier."""
        return self.loader is not None and self.loader.wrapped

    @property
    def drives(self) -> bool:
        """True where the body's own work shows that an iteration is a step, or part of one.

        A loop that only moves the batches of a loader to the device prepares the data of the steps.
        """
        if self.trains or self.wrapped:
            return True
        return self.loader is not None and (self.model or self._moves_for_steps)

    @property
    def _moves_for_steps(self) -> bool:
        return self.moved and (self.computes or self.opaque or self.feeds is not None)

    @property
    def has_host_part(self) -> bool:
        """True where a part of a plain loader's batch is there for the host, which uses it in every iteration."""
        return self.chosen or bool(self.used - self.wanted)

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
        if self.form is not Form.LOOP:
            return True
        if not self.unrolled and (self.drives or any(loop.drives or loop.steps_alone for loop in self.fed_by)):
            return True
        if self.in_forward or self.unrolled or self._holds_steps:
            return False
        if self.own_cut:
            return self.computes or self.model or any(inner.computes or inner.model for inner in self.inside())
        return self.model and self.anchored and not self.inside_step and not self._is_ensemble

    @property
    def steps_alone(self) -> bool:
        """Whether each turn runs a model and ends in a barrier of its own: what a generator yields is a step's."""
        return self.own_cut and self.model

    @property
    def _is_ensemble(self) -> bool:
        """Whether each turn takes another model: all of them see one batch."""
        return self.iterable is not None and over_models(self.iterable)

    @property
    def _holds_steps(self) -> bool:
        """Whether the steps are the turns of a loop inside it."""
        return any(inner.drives and inner.feeds is not self and not inner.unrolled for inner in self.inside())

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
            around.form is not Form.LOOP or around.drives or (around.own_cut and not around._holds_steps)
            for around in self.around()
        )

    @property
    def changes_graphs(self) -> bool:
        """True where each iteration is a graph of its own, so that what changes between them is compiled anew."""
        if self.form is not Form.LOOP or (self.is_step and self.is_cut):
            return True
        return self.feeds is not None and self.feeds.changes_graphs

    def describe(self) -> str:
        """Where the code runs, as a message says it."""
        if self.form is Form.LOOP:
            return f"in the step loop of line {self.line}"
        if self.form is Form.FORWARD:
            return f"in '{self.function}', which runs every step"
        return f"in '{self.function}', which is called every step"


def is_short(turns: Value) -> bool:
    """True for so few turns, by the source's own numbers, that they may be meant to be one graph."""
    if isinstance(turns, Stream):
        stop = turns.stop.const if isinstance(turns.stop, Number) else None
        if turns.counted and isinstance(stop, int):
            return stop <= SHORT
        return any(is_short(piece) for piece in turns.pieces)
    return isinstance(turns, Sequence) and turns.items is not None and len(turns.items) <= SHORT


def over_models(turns: Value) -> bool:
    """True where each turn takes another model, or an object that holds one."""
    if isinstance(turns, Instance):
        return turns.model
    if isinstance(turns, Sequence):
        return holds_model(element_of(turns))
    if isinstance(turns, Stream):
        return holds_model(turns.element) or any(map(over_models, SOURCES[Stream](turns)))
    return isinstance(turns, Choice) and any(map(over_models, turns.options))


def holds_model(value: Value) -> bool:
    """True for a model, and for a container or an object with one in it."""
    return any(held.model for held in found_in(value, Instance, EVERYTHING, DEPTH))
