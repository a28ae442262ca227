"""What the body of a loop was seen to do. What follows from it is decided in `steps`, once the program has run."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from xla_lint.program.domain.join import element_of
from xla_lint.program.domain.values import Choice, Instance, Number, Sequence, Stream
from xla_lint.program.domain.walk import EVERYTHING, SOURCES, found_in

if TYPE_CHECKING:
    from collections.abc import Iterable

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


class Kind(enum.Enum):
    """What the turns of a loop are to the steps of the program."""

    STEP = "step"
    """Each turn is a step: the loop trains, evaluates or decodes on the device."""
    EPOCH = "epoch"
    """The steps are the turns of a loop inside."""
    UNROLLED = "unrolled"
    """All its turns are part of one step, or of one call of a model."""
    OTHER = "other"
    """Nothing on the device shows that its turns are steps: it prepares data, or works on the host."""


class Decision(NamedTuple):
    """What follows for a loop from what all loops of the program do; `steps.decide` makes it."""

    kind: Kind
    trains: bool
    """Its body itself performs a training step, or part of one, in a loop that is unrolled or not."""
    trial: bool = False
    """Each turn changes something and evaluates it: the loops inside hold the steps, and none of them trains."""


@dataclass(slots=True, eq=False)
class CutSite:
    """A barrier inside a loop, seen from that loop."""

    node: nodes.NodeNG
    periodic: bool
    """True where it stands under a test on a step counter."""
    conditional: bool
    """True where it stands under any test inside the loop."""
    spelled: str


@dataclass(slots=True, eq=False)
class Loop:
    """A loop of the program, in one context, and the facts about it that the run records.

    "Directly" means: in the loop's own body or in functions called from it, but not in a loop inside it.
    """

    node: nodes.NodeNG
    form: Form
    function: str
    """The name of the function around it, empty at module level."""
    parent: Loop | None = None
    children: list[Loop] = field(default_factory=list, init=False)

    in_forward: bool = False
    """True inside a module's `forward`: such a loop is unrolled into the step's graph."""
    periodic: bool = False
    """True where a test inside the loop around lets it run every few turns only."""
    certain: bool = True
    """False where no caller is in sight, so that what runs in it is told by use alone."""
    anchored: bool = True
    """False in a function without a caller in sight, outside `no_grad`: it may be part of a model."""

    loader: Loader | None = None
    """The loader it iterates."""
    iterable: Value | None = None
    """What it iterates, once known for every turn of the loops around it; None for `while`."""
    feeds: Loop | None = None
    """The loop that takes one item for each turn of this one, which yields them."""
    fed_by: list[Loop] = field(default_factory=list)
    """The loops of generators each of whose turns gives this one an item."""

    turn: int = 0
    """How often its body has been run by the analysis."""
    cut: Cut = Cut.NEVER
    """Whether an iteration passes a barrier, on the paths that come round again."""
    cuts: list[CutSite] = field(default_factory=list)
    """The barriers in it and in the loops inside it."""
    own_cut: bool = False
    """A barrier stands directly in it."""

    backward: bool = False
    """`backward()` of a device tensor, directly."""
    optimizer: bool = False
    """An optimizer step, directly."""
    model: bool = False
    """A call of a model on the device, directly."""
    computes: bool = False
    """Operations on the device are recorded, directly."""
    opaque: bool = False
    """A call directly inside it cannot be followed, and might be a barrier."""
    fetches: bool = False
    """The host asks for a pending value in every iteration, directly, which executes what the value needs."""
    carries: bool = False
    """Something recorded in one iteration is kept for the next: the graph of the steps is one chain."""
    changes: bool = False
    """A tensor on the device is changed in place, in it or in a loop inside."""
    moved: bool = False
    """A batch of a plain loader is moved to the device by hand."""
    chosen: bool = False
    """Values of a plain loader's batch decide on the host what is done in an iteration."""
    used: set[Part] = field(default_factory=set)
    """The parts of a plain loader's batch whose values the host asks for in every iteration."""
    wanted: set[Part] = field(default_factory=set)
    """The parts of a plain loader's batch that are moved to the device, or used with values fetched from there."""

    decision: Decision | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.parent is not None:
            self.parent.children.append(self)

    # What the run records.

    def stand(self, *, in_forward: bool, periodic: bool, certain: bool, grad: bool) -> None:
        """Note where the loop stands; `grad` tells whether autograd records there."""
        self.in_forward = in_forward
        self.periodic = periodic
        self.certain = certain
        self.anchored = certain or not grad

    def iterate(self, iterable: Value, loader: Loader | None) -> None:
        """Note what it iterates, and the loader in it."""
        self.iterable = iterable
        self.loader = loader or self.loader

    def feed(self, consumer: Loop) -> None:
        """Note that each turn gives another loop an item, whose loader is then the one of this loop."""
        self.feeds = consumer
        if self not in consumer.fed_by:
            consumer.fed_by.append(self)
        consumer.loader = consumer.loader or self.loader

    def begin_turn(self) -> None:
        """Note that its body is run once more."""
        self.turn += 1

    def end_turn(self, cut: Cut) -> None:
        """Note whether the turn that comes round again has passed a barrier."""
        self.cut = cut

    def pass_barrier(self, site: CutSite, *, directly: bool) -> None:
        """Note a barrier, at its first passage; `directly`: not in a loop inside."""
        if all(known.node is not site.node for known in self.cuts):
            self.cuts.append(site)
        self.own_cut |= directly

    def note_backward(self) -> None:
        """A device tensor's `backward()` is called."""
        self.backward = True

    def note_optimizer_step(self) -> None:
        """An optimizer updates parameters that may live on the device."""
        self.optimizer = True

    def note_model(self) -> None:
        """A model on the device is called."""
        self.model = True

    def note_operation(self) -> None:
        """An operation on the device is recorded."""
        self.computes = True

    def note_opaque(self) -> None:
        """A call cannot be followed."""
        self.opaque = True

    def note_fetch(self) -> None:
        """The host asks for a pending value in every turn."""
        self.fetches = True

    def note_carried(self) -> None:
        """The next turn needs what this one recorded."""
        self.carries = True

    def note_change(self) -> None:
        """A tensor on the device is changed in place."""
        for loop in (self, *self.around()):
            loop.changes = True

    def note_move(self) -> None:
        """A batch is moved to the device."""
        self.moved = True

    def note_host_use(self, parts: Iterable[Part]) -> None:
        """The host asks for parts of the batch in every turn."""
        self.used.update(parts)

    def note_device_use(self, parts: Iterable[Part]) -> None:
        """Parts of the batch are needed on the device."""
        self.wanted.update(parts)

    def note_host_choice(self) -> None:
        """The batch decides on the host what a turn does."""
        self.chosen = True

    # What the facts say by themselves.

    @property
    def line(self) -> int:
        """The line of the loop's head."""
        return int(self.node.lineno or 0)

    @property
    def short(self) -> bool:
        """True for a loop of so few turns, by the source's own numbers, that it may be meant to be one graph."""
        return self.iterable is not None and is_short(self.iterable)

    @property
    def over_models(self) -> bool:
        """True where each turn takes another model."""
        return self.iterable is not None and over_models(self.iterable)

    @property
    def wrapped(self) -> bool:
        """True where the loop's own `next()` is a barrier."""
        return self.loader is not None and self.loader.wrapped

    @property
    def is_cut(self) -> bool:
        """True where some iteration passes a barrier."""
        return self.cut is not Cut.NEVER or bool(self.cuts) or self.wrapped

    @property
    def has_host_part(self) -> bool:
        """True where a part of a plain loader's batch is there for the host, which uses it in every iteration."""
        return self.chosen or bool(self.used - self.wanted)

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

    # What was decided.

    @property
    def kind(self) -> Kind:
        """What its turns are to the steps of the program.

        Raises:
            AssertionError: the program is still running.
        """
        assert self.decision is not None, "what a loop is shows only when the program has run"
        return self.decision.kind

    @property
    def trains(self) -> bool:
        """True where the body itself performs a training step, or part of one, in a loop that is unrolled or not.

        Raises:
            AssertionError: the program is still running.
        """
        assert self.decision is not None, "what a loop is shows only when the program has run"
        return self.decision.trains

    @property
    def is_step(self) -> bool:
        """True for a loop that trains, evaluates or decodes on the device, and for code that is called every step."""
        return self.kind is Kind.STEP

    @property
    def is_trial(self) -> bool:
        """True for a loop of many turns around step loops that only evaluate: what each turn tries out.

        Raises:
            AssertionError: the program is still running.
        """
        assert self.decision is not None, "what a loop is shows only when the program has run"
        return self.decision.trial

    @property
    def changes_graphs(self) -> bool:
        """True where each iteration is a graph of its own, so that what changes between them is compiled anew."""
        if self.form is not Form.LOOP or ((self.is_step or self.is_trial) and self.is_cut):
            return True
        return self.feeds is not None and self.feeds.changes_graphs

    @property
    def executes(self) -> bool:
        """True where each iteration executes a graph, be it for a barrier or for a value that the host asks for."""
        return self.changes_graphs or (self.is_step and self.fetches)

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
