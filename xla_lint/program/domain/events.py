"""The vocabulary: what happens to the lazy device, and where.

The analysis of a program ends in a list of events, and rules read nothing else. Each event carries the
syntax node where it happens and the `Context` in which it happens: the loops around it (across calls), the
conditions that hold there, and the calls that led there.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.knowledge.api import Argument, Life
    from xla_lint.program.domain.compilations import Compilation
    from xla_lint.program.domain.contexts import Context
    from xla_lint.program.domain.loaders import Loader, Logger
    from xla_lint.program.domain.loops import Loop
    from xla_lint.program.domain.touches import Touch
    from xla_lint.program.domain.values import Instance, Location, Number, Tensor, Value


@dataclass(slots=True, eq=False)
class Event:
    """Something that happens at a node."""

    node: nodes.NodeNG
    context: Context


class How(enum.Enum):
    """The way in which the host asks for a tensor's value."""

    VALUE = "value"
    FORMAT = "format"
    BRANCH = "branch"
    HIDDEN = "hidden"
    """Inside a call that does not look like it."""


@dataclass(slots=True, eq=False)
class Read(Event):
    """The host asks for the value of a device tensor."""

    how: How
    what: str
    """The source of the expression that is read."""
    spelled: str
    """The construct that reads: `.item()`, `print`, `if`."""
    tensor: Tensor
    pending: bool
    """True where the tensor was computed since the last barrier on some path."""
    on_every_path: bool
    """False where pending or not depends on the path taken."""
    logger: Logger | None = None
    """The logger that formats the value lazily, with `level`."""
    level: int = 0


@dataclass(slots=True, eq=False)
class Barrier(Event):
    """The graph is cut."""

    spelled: str
    redundant: bool
    """True where nothing was recorded since the barrier before."""


@dataclass(slots=True, eq=False)
class SplitStep(Event):
    """A barrier stands between the forward and the backward pass, or before the optimizer step, of one iteration."""

    spelled: str
    resumed: nodes.NodeNG
    """Where the step goes on; the function that a framework has called, where that does it."""


@dataclass(slots=True, eq=False)
class StepClosure(Event):
    """`xm.add_step_closure` registers a callback; `problem` tells what is wrong with its arguments."""

    problem: str | None


@dataclass(slots=True, eq=False)
class LoopRun(Event):
    """A loop of the program; `loop` holds what its body does. The event stands at the loop."""

    loop: Loop


@dataclass(slots=True, eq=False)
class History(Event):
    """A running total keeps the autograd history of the values added to it, from turn to turn of `loop`."""

    total: str
    loop: Loop


@dataclass(slots=True, eq=False)
class Growing(Event):
    """A tensor is concatenated onto itself in every iteration of `loop`."""

    what: str
    loop: Loop


@dataclass(slots=True, eq=False)
class DataShape(Event):
    """The shape of a device tensor, or another number that operations are compiled for, depends on values."""

    spelled: str
    filled: bool = False
    """True where one number is written through a mask, so that only the mask has a shape that matters."""
    inside: bool = False
    """True where the shape of the result is fixed, and the backend fetches a number all the same, to compile for it."""


@dataclass(slots=True, eq=False)
class Changing(Event):
    """A Python number that changes from step to step is built into the graph."""

    spelled: str
    number: Number
    shape: bool
    """True where it sets a shape, False where it is a constant of an operation."""


@dataclass(slots=True, eq=False)
class HandPadding(Event):
    """A tensor is given the length of the longest of several rows."""

    spelled: str


@dataclass(slots=True, eq=False)
class HostChoice(Event):
    """A random number drawn on the host decides what is recorded."""

    spelled: str
    ends: Loop | None = None
    """The loop of which it only decides whether it goes on."""


@dataclass(slots=True, eq=False)
class LoaderBuilt(Event):
    """A `DataLoader` is constructed; `loader` learns later what iterates it."""

    loader: Loader


@dataclass(slots=True, eq=False)
class Transfer(Event):
    """`.to(...)` with a place: a tensor or a model is moved, or is already there."""

    value: Tensor | Instance
    origin: Location
    """Where it was before."""
    place: Location
    certain: bool
    """False where the place is known by convention only."""
    cast: bool
    """True where the dtype changes too."""


@dataclass(slots=True, eq=False)
class TableSent(Event):
    """A table of numbers that stands outside all loops is made a tensor of the device, from the host."""

    loop: Loop | None
    """The innermost loop around."""


@dataclass(slots=True, eq=False)
class Forward(Event):
    """A model is called with device tensors, or lives on the device."""

    model: Instance
    place: Location
    """Where the model lives here."""
    prepared: bool
    """True where `Accelerator.prepare` has had it."""


@dataclass(slots=True, eq=False)
class Backward(Event):
    """`backward()` of a tensor, through an `Accelerator` or not; `loss` is None where only the call shows it."""

    loss: Tensor | None


@dataclass(slots=True, eq=False)
class GradientSet(Event):
    """A parameter's gradient is set, or deleted, by hand."""


@dataclass(slots=True, eq=False)
class OptimizerStep(Event):
    """An optimizer updates its parameters, by its own `step` or through a scaler's."""

    optimizer: Instance
    reduced: bool
    """False where the gradients of the last backward pass have surely not been reduced over the replicas."""


@dataclass(slots=True, eq=False)
class Outdated(Event):
    """An optimizer is used that holds parameters which its model has replaced since. It stands at the optimizer."""

    moved: int
    """The line of the move that replaced them."""
    certain: bool
    """False where a link of the evidence is a convention."""


@dataclass(slots=True, eq=False)
class ClippedEarly(Event):
    """Gradients are clipped or unscaled, and reduced over the replicas afterwards. It stands at the clip."""

    spelled: str
    reduction: str
    """What reduces them."""
    reduced_at: nodes.NodeNG
    prepared: bool = False
    """True where the step of an optimizer that Accelerate prepared reduces them."""


@dataclass(slots=True, eq=False)
class Parting(Event):
    """A test whose answer may differ between replicas. It stands at the test."""


@dataclass(slots=True, eq=False)
class Collective(Event):
    """Every replica has to come here: a collective, a rendezvous or a barrier."""

    spelled: str
    waits: bool
    """False for a barrier that waits only for the collectives in what it runs."""


@dataclass(slots=True, eq=False)
class Save(Event):
    """Values are written to a file, or hooks are set that write them."""

    spelled: str
    what: str
    """The source of what is saved."""
    place: Location
    """DEVICE if it surely holds device tensors, HOST if it surely holds none."""
    certain: bool
    collective: bool
    """True where its graph holds a collective."""
    pending: bool
    """True where a graph is executed for what is saved: it was recorded, or updated, since the last barrier."""
    whole: bool = False
    """True where a model is saved as an object, and not its values alone."""


@dataclass(slots=True, eq=False)
class Autocast(Event):
    """Operations on the device are recorded under `torch.autocast` for another kind of device.

    It stands at the call that made the context manager or the decorator.
    """

    device: str
    optional: bool
    """True where the source does not decide whether it is enabled."""


@dataclass(slots=True, eq=False)
class RankIndex(Event):
    """Something is indexed by a number that differs between replicas: each takes a part of its own."""


@dataclass(slots=True, eq=False)
class SplitPrepare(Event):
    """`Accelerator.prepare` gets a model or an optimizer whose counterpart another call has prepared already.

    The optimizer holds the parameters that the model had before it moved.
    """

    optimizer: Instance


@dataclass(slots=True, eq=False)
class Launch(Event):
    """Replicas are started, more than one."""

    touched: frozenset[Touch]
    """What has initialised the XLA runtime before, on every path: each call and its dotted name."""
    perhaps: frozenset[Touch] = frozenset()
    """What has done so on some paths, all of which lead to the launch."""


class UsedApi(NamedTuple):
    """A name of torch_xla, or an argument of one, where it is used."""

    spelled: str
    life: Life
    importable: bool = True
    """False where it is imported as a module and is none."""
    argument: Argument | None = None
    """What is known of the argument, where it is one."""


@dataclass(slots=True, eq=False)
class ApiUse(Event):
    """Names or arguments that not every release has are used where no guard answers for their absence."""

    uses: tuple[UsedApi, ...]


@dataclass(slots=True, eq=False)
class EnvironmentSet(Event):
    """An environment variable is set."""

    name: str
    value: str | None
    """None where the source does not say it."""
    late: bool
    """True where torch_xla has been imported before."""


@dataclass(slots=True, eq=False)
class LibraryCall(Event):
    """A call of something outside the project, under its canonical dotted name.

    Methods of library objects are spelled with the class: `transformers.PreTrainedTokenizer.pad`. Moves of what is
    not known at all are spelled `?.to` and `?.cuda`.
    """

    name: str
    args: tuple[Value, ...]
    kwargs: dict[str, Value]
    unpacked: bool
    """True where `*args` or `**kwargs` may bring further arguments."""
    receiver: Value | None = None

    def argument(self, position: int, keyword: str) -> Value | None:
        """The value of a parameter given by position or by keyword, None where it is absent."""
        if keyword in self.kwargs:
            return self.kwargs[keyword]
        return self.args[position] if 0 <= position < len(self.args) else None


@dataclass(slots=True, eq=False)
class Compiled(Event):
    """`torch.compile` is asked to compile something for the device of a native backend. It stands at the call."""

    compilation: Compilation
    value: Value


@dataclass(slots=True, eq=False)
class CompiledCall(Event):
    """What is compiled for the device of a native backend is called, from code that is not."""

    compilation: Compilation
    function: nodes.NodeNG | None
    """The function that is traced, where it is in sight."""
    arguments: dict[str, Value]
    """What it is given, by parameter or position."""


@dataclass(slots=True, eq=False)
class ForeignName(Event):
    """A program on its way to another backend uses a name of the old one.

    It stands where the name is read, and at an import of what nothing reads.
    """

    dotted: str


@dataclass(slots=True, eq=False)
class GraphBreak(Event):
    """Compiled code holds what the compiler does not trace, whatever the values are."""

    spelled: str
    effect: str
    """What happens beyond the break; empty where that is all."""


@dataclass(slots=True, eq=False)
class InferenceMode(Event):
    """Compiled code turns `inference_mode` on. It stands at the decorator, or at the expression of the `with`."""

    region: nodes.NodeNG
    """The function or the `with` whose body it covers."""
