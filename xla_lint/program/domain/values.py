"""What a name can stand for, as far as the lazy device is concerned.

Values are abstract: a `Tensor` is any tensor with these properties. `UNKNOWN` is a value like the others, and
the answer wherever the chain of evidence breaks. Numbers, texts and names never change, and a tensor only where
a collective works in place; instances and containers do, and are shared by identity as in the program itself.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from xla_lint.program.domain.fields import (
    APART,
    BOTH,
    EITHER,
    EXPLAINS,
    INSIDE,
    MEMORY,
    UNION,
    Table,
    agreed,
    longest,
)

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.domain.compilations import Compilation
    from xla_lint.program.domain.definitions import Class
    from xla_lint.program.domain.loops import Loop


class Location(enum.Enum):
    """Where a tensor or a model lives."""

    __hash__ = object.__hash__

    DEVICE = "device"
    HOST = "host"
    UNKNOWN = "unknown"


class Kind(enum.Enum):
    """A tensor's dtype, as far as indexing by it is concerned."""

    __hash__ = object.__hash__

    BOOL = "bool"
    INT = "int"
    FLOAT = "float"
    UNKNOWN = "unknown"


MATERIALISED = 0
"""The epoch of a tensor whose value is already on the device."""


class Value:
    """Any abstract value."""

    __slots__ = ()


class _Unknown(Value):
    __slots__ = ()

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = _Unknown()


class _Other(Value):
    __slots__ = ()

    def __repr__(self) -> str:
        return "NO_TENSOR"


NO_TENSOR = _Other()
"""Something of which a test showed that it is no tensor; nothing else is known of it."""


class _Nothing(Value):
    __slots__ = ()

    def __repr__(self) -> str:
        return "NONE"


NONE = _Nothing()
"""Python's None."""


class Trait(enum.Enum):
    """What is known of a number that decides something."""

    __hash__ = object.__hash__

    RARE = "true now and then"
    COMMON = "false now and then"
    RANK = "differs between replicas"
    RANDOM = "drawn on the host"
    DATA = "read from the device"
    CLOCK = "read from a clock"
    ONCE = "true, or false, in one turn of the whole loop"
    COUNTED = "taken modulo something"
    QUOTIENT = "divided without remainder"
    SHAPE = "taken from a shape"
    PREPARED = "counted in the batches of a loader that Accelerate prepared"
    LONGEST = "the greatest of several lengths"
    DEFAULT = "the default of a parameter, which no call in sight changes"
    ITEM = "another one in each item that a comprehension makes, or a call that takes all items at once"
    FACT = "known of the device, whatever the configuration, or spelled apart by the calls of a function"
    KIND = "follows from the kind of device alone, wherever it is kept"


NO_TRAITS: frozenset[Trait] = frozenset()
FACT = frozenset({Trait.FACT})
OF_KIND = FACT | {Trait.KIND}
RANKED = frozenset({Trait.RANK})
OWN = RANKED | {Trait.DATA}
"""The traits of what each replica may have another one of."""
NO_LOOPS: frozenset[Loop] = frozenset()
NO_SITES: frozenset[Any] = frozenset()
NO_ORIGINS: frozenset[Origin] = frozenset()
NO_PARTS: frozenset[Part] = frozenset()
NO_TENSORS: frozenset[Tensor] = frozenset()
Memories = frozenset[frozenset["Tensor"]]
"""What was fetched: for each value, the tensors that it may have been (`Tensor.memory`)."""


def shared_traits(a: frozenset[Trait], b: frozenset[Trait]) -> frozenset[Trait]:
    """The rule of traits: those of both, and that replicas may differ in it where they do in either."""
    return (a & b) | ((a | b) & OWN)


@dataclass(slots=True, unsafe_hash=True)
class Number(Value):
    """A Python number or boolean."""

    const: int | float | None = None
    """Its value, where the source says so."""
    loops: frozenset[Loop] = NO_LOOPS
    """The loops in whose iterations it changes."""
    traits: frozenset[Trait] = NO_TRAITS

    FIELDS: ClassVar[Table] = {"const": agreed(None), "loops": UNION, "traits": shared_traits}


NUMBER = Number()
RARE = Number(traits=frozenset({Trait.RARE}))
SHAPE = Number(traits=frozenset({Trait.SHAPE}))
"""A number, dtype or name that is known without running anything."""


@dataclass(slots=True, unsafe_hash=True)
class Text(Value):
    """A Python string."""

    const: str | None = None
    fact: bool = False
    """True for what is known of the device whatever the configuration, and for what calls of a function spell apart."""
    ranked: bool = False
    """True where it differs between replicas."""
    opening: str = ""
    """How it begins, as far as that is known where the whole is not."""

    FIELDS: ClassVar[Table] = {"const": agreed(None), "fact": BOTH, "ranked": EITHER, "opening": agreed("")}


TEXT = Text()


@dataclass(slots=True, eq=False)
class Tensor(Value):
    """A tensor. Two tensors are the same only if they are the same object."""

    place: Location
    recorded_in: int = MATERIALISED
    """The graph epoch in which it was recorded; `MATERIALISED` if it needs no execution."""
    line: int = 0
    """The line that computed it, 0 where unknown."""
    home: nodes.Module | None = None
    """The module of that line."""
    kind: Kind = Kind.UNKNOWN
    grad: bool = False
    """True where it carries autograd history."""
    unstructured: bool = False
    """True for a model's output of unknown structure: its attributes and items are tensors."""
    certain: bool = True
    """False where a link of the evidence is a convention, on every path."""
    assumed: bool = False
    """True where it is certain on one path, and a link is a convention on another."""
    length: int | None = None
    """The size of the first dimension, where the source says so."""
    sites: frozenset[nodes.NodeNG] = NO_SITES
    """The concatenations and running totals that it is made of."""
    clip: bool = False
    """True for the norm that gradient clipping returned."""
    made: Loop | None = None
    """For a host tensor computed from numbers alone: the innermost loop in which that happens."""
    drawn: bool = False
    """True for a random number drawn on the host, and what is computed from such numbers alone."""
    parts: frozenset[Part] = NO_PARTS
    """For a host tensor: the parts of a loader's batch that it is computed from, and `FETCHED`."""
    undecided: bool = False
    """True for something unknown that was moved to the device: a model, if its use shows it, else a tensor."""
    roots: frozenset[Tensor] = NO_TENSORS
    """The tensors of which it is one, or with one of which it shares memory (`detach()`); empty for itself."""
    origins: frozenset[Origin] = NO_ORIGINS
    """For a parameter or its gradient: the models that it comes from."""
    collective: bool = False
    """True where the graph that computes it holds a collective."""
    shared: bool = False
    """True where every replica has the same value."""

    FIELDS: ClassVar[Table] = {
        "place": APART,
        "recorded_in": MEMORY,
        "line": EXPLAINS,
        "home": EXPLAINS,
        "kind": agreed(Kind.UNKNOWN),
        "grad": EITHER,
        "unstructured": EITHER,
        "certain": EITHER,
        "assumed": EITHER,
        "length": agreed(None),
        "sites": UNION,
        "clip": BOTH,
        "made": agreed(None),
        "drawn": BOTH,
        "parts": UNION,
        "undecided": BOTH,
        "roots": MEMORY,
        "origins": UNION,
        "collective": EITHER,
        "shared": BOTH,
    }

    def like(self, **changes: Any) -> Tensor:
        """A new tensor that differs in some properties."""
        new = Tensor(*_all_of_tensor(self))
        for name, value in changes.items():
            setattr(new, name, value)
        return new

    def alias(self, **changes: Any) -> Tensor:
        """Another name for the same memory: pending as long as this one, materialised with it."""
        return self.like(roots=self.memory, **changes)

    @property
    def memory(self) -> frozenset[Tensor]:
        """The tensors that it may be, or share memory with."""
        return self.roots or frozenset((self,))

    def is_pending(self, epochs: frozenset[int], materialised: Memories) -> bool:
        """Whether reading it executes a graph, on some path, where these graph epochs are open."""
        if self.recorded_in not in epochs or not materialised:
            return self.recorded_in in epochs
        memory = self.memory
        return memory not in materialised and not all(frozenset((one,)) in materialised for one in memory)


_all_of_tensor = attrgetter(*Tensor.FIELDS)


@dataclass(slots=True, frozen=True, eq=False)
class Part:
    """A part of a loader's batch on the host."""

    whole: bool = False
    """True for a batch whose parts cannot be told apart."""


FETCHED = Part()
"""What stands among the parts for values that were fetched from the device."""


@dataclass(slots=True, unsafe_hash=True)
class Device(Value):
    """A torch device."""

    place: Location
    certain: bool = True


@dataclass(slots=True, unsafe_hash=True)
class Name(Value):
    """Something outside the project, by its canonical dotted name: `torch.nn.functional.cross_entropy`."""

    dotted: str


@dataclass(slots=True, eq=False)
class Instance(Value):
    """An object with attributes: of a class of the project, or of a library class named `library`."""

    cls: Class | None
    library: str = ""
    attributes: dict[str, Value] = field(default_factory=dict)
    place: Location = Location.UNKNOWN
    """For a model: where its parameters live."""
    model: bool = False
    certain: bool = True
    node: nodes.NodeNG | None = None
    """The call that made it."""
    prepared: bool = False
    """True for what `Accelerator.prepare` returned."""
    optional: bool = False
    """True where it was built under a test that the source does not decide: so is what its methods do."""
    moves: tuple[Move, ...] = ()
    """For a model: the moves that gave it new parameters."""
    compilation: Compilation | None = None
    """What `torch.compile` was asked to do with it, for the device of a native backend."""
    around: frozenset[Loop] = NO_LOOPS
    """For an object of the project: the loops around the call that made it."""

    FIELDS: ClassVar[Table] = {
        "cls": APART,
        "library": APART,
        "attributes": INSIDE,
        "place": APART,
        "model": APART,
        "certain": BOTH,
        "node": APART,
        "prepared": EITHER,
        "optional": EITHER,
        "moves": longest,
        "compilation": APART,
        "around": EXPLAINS,
    }


class Move(NamedTuple):
    """A move that gave a model new parameters."""

    line: int
    """0 for a move by a framework."""
    place: Location
    entry: int
    """The entry point of the program (`Position.entry_point`) from which it is reached."""


class Origin(NamedTuple):
    """Where a parameter comes from: a model, and how often that model's parameters had been replaced by then."""

    asked: Instance
    """The model that was asked for it."""
    model: Instance
    """The model inside that one which holds it."""
    moves: int
    entry: int
    """The entry point of the program (`Position.entry_point`) from which it was asked for."""
    gradient: bool = False
    """True for the parameter's gradient."""


@dataclass(slots=True, eq=False)
class Sequence(Value):
    """A list, tuple or set. `items` holds its elements where all are known, `element` their join."""

    items: list[Value] | None
    element: Value = UNKNOWN
    frozen: bool = False
    """True for a tuple."""
    made: frozenset[Loop] | None = None
    """The loops around the place that made a list; None where its length is not followed."""
    grown: frozenset[Loop] = NO_LOOPS
    """The loops in whose iterations its length changes."""
    steady: bool = False
    """True where what leaves it may keep its length within bounds."""
    longest: int | None = None
    """The index of its longest row, where it was sorted by their lengths."""

    FIELDS: ClassVar[Table] = {
        "items": INSIDE,
        "element": INSIDE,
        "frozen": BOTH,
        "made": agreed(None),
        "grown": UNION,
        "steady": EITHER,
        "longest": agreed(None),
    }


@dataclass(slots=True, eq=False)
class Mapping(Value):
    """A dict: `entries` by known key (`key_of`), `element` the join of all others (None: there are no others)."""

    entries: dict[str, Value]
    element: Value | None = None
    factory: Value | None = None
    """What makes an entry that is asked for and is not there (`defaultdict`)."""

    FIELDS: ClassVar[Table] = {"entries": INSIDE, "element": INSIDE, "factory": agreed(None)}


def as_setting(value: Value) -> Value:
    """A value as an object keeps it: a setting, which may be another one tomorrow."""
    if isinstance(value, Text) and value.fact:
        return replace(value, fact=False)
    if isinstance(value, Number) and value.traits & OF_KIND == FACT:
        return replace(value, traits=value.traits - {Trait.FACT})
    return value


@dataclass(slots=True, eq=False)
class Stream(Value):
    """Something to iterate: what it yields, and what it iterates in turn."""

    element: Value
    source: Value | None = None
    counted: bool = False
    """True where each item carries a running number (`enumerate`, `range`)."""
    pieces: tuple[Value, ...] = ()
    """The streams that `zip` and `enumerate` walk side by side."""
    stop: Value | None = None
    """`range`'s length."""

    FIELDS: ClassVar[Table] = {
        "element": INSIDE,
        "source": APART,
        "counted": BOTH,
        "pieces": INSIDE,
        "stop": INSIDE,
    }


@dataclass(slots=True, unsafe_hash=True)
class Choice(Value):
    """One of a few values, depending on the path taken."""

    options: tuple[Value, ...]
    ranked: bool = False
    """True where it is None on some replicas and something else on the others."""

    FIELDS: ClassVar[Table] = {"options": INSIDE, "ranked": EITHER}


def options(value: Value) -> tuple[Value, ...]:
    """The alternatives of a value."""
    return value.options if isinstance(value, Choice) else (value,)
