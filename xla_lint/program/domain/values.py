"""What a name can stand for, as far as the lazy device is concerned.

Values are abstract: a `Tensor` is any tensor with these properties. `UNKNOWN` is a value like the others, and
the answer wherever the chain of evidence breaks. Numbers, texts and names never change, and a tensor only where
a collective works in place; instances and containers do, and are shared by identity as in the program itself.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from astroid import nodes

    from xla_lint.program.domain.loops import Loop
    from xla_lint.program.domain.state import Frame


class Location(enum.Enum):
    """Where a tensor or a model lives."""

    DEVICE = "device"
    HOST = "host"
    UNKNOWN = "unknown"


class Kind(enum.Enum):
    """A tensor's dtype, as far as indexing by it is concerned."""

    BOOL = "bool"
    INT = "int"
    FLOAT = "float"
    UNKNOWN = "unknown"


MATERIALISED = 0
"""The `born` of a tensor whose value is already on the device."""


class Value:
    """Any abstract value."""

    __slots__ = ()


class _Unknown(Value):
    __slots__ = ()

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = _Unknown()


class _Nothing(Value):
    __slots__ = ()

    def __repr__(self) -> str:
        return "NONE"


NONE = _Nothing()
"""Python's None."""


DEVICE_TYPES = {Location.DEVICE: "xla", Location.HOST: "cpu"}
"""The type of a `torch.device` there."""


class Trait(enum.Enum):
    """What is known of a number that decides something."""

    RARE = "true now and then"
    COMMON = "false now and then"
    RANK = "differs between replicas"
    RANDOM = "drawn on the host"
    DATA = "read from the device"
    CLOCK = "read from a clock"
    COUNTED = "taken modulo something"
    SHAPE = "taken from a shape"
    LONGEST = "the greatest of several lengths"
    FACT = "known of the device, whatever the configuration, or spelled apart by the calls of a function"


NO_TRAITS: frozenset[Trait] = frozenset()
FACT = frozenset({Trait.FACT})
NO_LOOPS: frozenset[Loop] = frozenset()
NO_SITES: frozenset[Any] = frozenset()
NO_ORIGINS: frozenset[Origin] = frozenset()
NO_PARTS: frozenset[Part] = frozenset()


@dataclass(slots=True, frozen=True)
class Number(Value):
    """A Python number or boolean."""

    const: int | float | None = None
    """Its value, where the source says so."""
    loops: frozenset[Loop] = NO_LOOPS
    """The loops in whose iterations it changes."""
    traits: frozenset[Trait] = NO_TRAITS


NUMBER = Number()
RARE = Number(traits=frozenset({Trait.RARE}))
SHAPE = Number(traits=frozenset({Trait.SHAPE}))
"""A number, dtype or name that is known without running anything."""


@dataclass(slots=True, frozen=True)
class Text(Value):
    """A Python string."""

    const: str | None = None
    fact: bool = False
    """True for what is known of the device whatever the configuration, and for what calls of a function spell apart."""
    ranked: bool = False
    """True where it differs between replicas."""


TEXT = Text()


@dataclass(slots=True, eq=False)
class Tensor(Value):
    """A tensor. Two tensors are the same only if they are the same object."""

    place: Location
    recorded_in: int = MATERIALISED
    """The segment of the graph in which it was recorded; `MATERIALISED` if it needs no execution."""
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
    """False where a link of the evidence is a convention."""
    length: int | None = None
    """The size of the first dimension, where the source says so."""
    sites: frozenset[nodes.NodeNG] = NO_SITES
    """The concatenations and running totals that it is made of."""
    clip: bool = False
    """True for the norm that gradient clipping returned."""
    made: Loop | None = None
    """For a host tensor computed from numbers alone: the innermost loop in which that happens."""
    owner: Instance | None = None
    """For a parameter: its model."""
    drawn: bool = False
    """True for random numbers drawn on the host."""
    parts: frozenset[Part] = NO_PARTS
    """For a host tensor: the parts of a loader's batch that it is computed from, and `FETCHED`."""
    undecided: bool = False
    """True for something unknown that was moved to the device: a model, if its use shows it, else a tensor."""
    root: Tensor | None = None
    """The tensor whose memory it shares (`detach()`), None for itself."""
    origins: frozenset[Origin] = NO_ORIGINS
    """For a parameter or its gradient: the models that it comes from."""
    collective: bool = False
    """True where the graph that computes it holds a collective."""
    shared: bool = False
    """True where every replica has the same value."""

    def like(self, **changes: Any) -> Tensor:
        """A new tensor that differs in some properties."""
        return replace(self, **changes)

    def alias(self, **changes: Any) -> Tensor:
        """Another name for the same memory: pending as long as this one, materialised with it."""
        return replace(self, root=self.root or self, **changes)


@dataclass(slots=True, frozen=True, eq=False)
class Part:
    """A part of a loader's batch on the host."""

    whole: bool = False
    """True for a batch whose parts cannot be told apart."""


FETCHED = Part()
"""What stands among the parts for values that were fetched from the device."""


@dataclass(slots=True, frozen=True)
class Device(Value):
    """A torch device."""

    place: Location
    certain: bool = True


@dataclass(slots=True, frozen=True)
class Name(Value):
    """Something outside the project, by its canonical dotted name: `torch.nn.functional.cross_entropy`."""

    dotted: str


@dataclass(slots=True, frozen=True)
class Method(Value):
    """A method of a value, not yet called."""

    receiver: Value
    name: str


@dataclass(slots=True, eq=False)
class Function(Value):
    """A function of the project, with the variables it closes over."""

    node: nodes.FunctionDef | nodes.Lambda
    frame: Frame
    """The frame in which it was defined."""
    receiver: Value | None = None
    """`self` or the class, for a bound method."""
    owner: Class | None = None
    """The class whose body defines it."""
    defaults: dict[str, Value] = field(default_factory=dict)
    leading: tuple[Value, ...] = ()
    """The positional arguments that `functools.partial` bound."""
    compiled: bool = False
    """True under `torch_xla.compile`: each call is a graph of its own."""
    no_grad: bool = False
    manager: bool = False
    """True under `contextlib.contextmanager`."""
    static: bool = False
    bound_class: bool = False
    """True under `classmethod`."""
    getter: bool = False
    """True under `property`."""
    ranked: bool = False
    """True where it does nothing on other replicas than one."""

    @property
    def name(self) -> str:
        """Its name, as a message says it."""
        return getattr(self.node, "name", "<lambda>")


@dataclass(frozen=True, slots=True)
class GradientHook:
    """A function that runs with the backward pass."""

    function: Function
    first: tuple[Value, ...]
    """What it is given before the gradients."""
    gradients: int
    """How many gradients it is given."""
    certain: bool
    """Whether these surely live on the device."""
    entry: int
    """The entry point of the program (`Machine.entry`) that registered it."""


@dataclass(slots=True, eq=False)
class Class(Value):
    """A class of the project."""

    node: nodes.NodeNG
    """Its definition, or the call that made it (`namedtuple`)."""
    frame: Frame
    bases: list[Value]
    members: dict[str, Value]
    fields: list[str] | None = None
    """The fields of a dataclass or a named tuple, in order."""


@dataclass(slots=True, frozen=True)
class Member(Value):
    """A member of an enumeration of the project."""

    node: nodes.NodeNG
    """The definition of the enumeration."""
    name: str
    cls: Class = field(compare=False)
    value: Value = field(compare=False)


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


@dataclass(frozen=True, slots=True)
class Move:
    """A move that gave a model new parameters."""

    line: int
    place: Location
    entry: int
    """The entry point of the program (`Machine.entry`) from which it is reached."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a parameter comes from: a model, and how often that model's parameters had been replaced by then."""

    model: Instance
    moves: int
    entry: int
    """The entry point of the program (`Machine.entry`) from which it was asked for."""
    gradient: bool = False
    """True for the parameter's gradient."""


@dataclass(slots=True, eq=False)
class Logger(Value):
    """A `logging.Logger`; `level` is what `setLevel` gave it, 0 where it inherits the root's."""

    level: int = 0


@dataclass(slots=True, eq=False)
class Loader(Value):
    """A `DataLoader`, or what stands for one."""

    node: nodes.NodeNG | None
    element: Value
    wrapped: bool = False
    """True behind `MpDeviceLoader` or its kin: `next()` is a barrier and yields device tensors."""
    batch_size: Value | None = None
    drop_last: Value | None = None
    rows: int | None = None
    endless: bool = False
    dataset: Value = UNKNOWN
    sampler: Value | None = None
    shuffle: Value | None = None
    workers: Value | None = None
    unpacked: bool = False
    """True where `*args` or `**kwargs` may bring further arguments."""
    single: bool = False
    """True for what walks a `ParallelLoader`, which can be done once."""
    made: tuple[Loop, ...] = ()
    """The loops around its construction."""
    prepared: bool = False
    """True for what `Accelerator.prepare` returned."""
    inner: Loader | None = None
    fed: bool = False
    """True where a device loader wraps it: it feeds the device, whether the loop is in sight or not."""
    loops: list[Loop] = field(default_factory=list)
    """The loops that iterate it."""

    @property
    def host(self) -> Loader:
        """The `DataLoader` itself, under every wrapper."""
        return self.inner.host if self.inner else self


@dataclass(slots=True, eq=False)
class Sequence(Value):
    """A list, tuple or set. `items` holds its elements where all are known, `element` their join."""

    items: list[Value] | None
    element: Value = UNKNOWN
    frozen: bool = False
    """True for a tuple."""


@dataclass(slots=True, eq=False)
class Mapping(Value):
    """A dict: `entries` by known key (`key_of`), `element` the join of all others (None: there are no others)."""

    entries: dict[str, Value]
    element: Value | None = None
    factory: Value | None = None
    """What makes an entry that is asked for and is not there (`defaultdict`)."""


def as_setting(value: Value) -> Value:
    """A value as an object keeps it: a setting, which may be another one tomorrow."""
    if isinstance(value, Text) and value.fact:
        return replace(value, fact=False)
    if isinstance(value, Number) and Trait.FACT in value.traits:
        return replace(value, traits=value.traits - {Trait.FACT})
    return value


def key_of(value: Value | None) -> str | None:
    """The key under which a dict keeps what a value indexes; None where that is not known."""
    if isinstance(value, Text):
        return value.const
    return f"{value.node.root().name}:{value.node.lineno}.{value.name}" if isinstance(value, Member) else None


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


@dataclass(slots=True, eq=False)
class Generator(Value):
    """A called generator function, whose body runs as it is iterated."""

    function: Function
    bound: dict[str, Value]


@dataclass(slots=True, eq=False)
class ModuleValue(Value):
    """A module or package of the project; `frame` holds its variables, None for a folder without `__init__`."""

    path: Path
    frame: Frame | None


@dataclass(slots=True, eq=False)
class Imported(Value):
    """What an import of the project's own names: it is looked up when it is first used."""

    path: Path
    """The file or folder that the import names."""
    member: str
    """The name taken from it; empty for the module itself."""
    dotted: str
    """The name as written, for the case that it cannot be found there."""


@dataclass(slots=True, frozen=True)
class Choice(Value):
    """One of a few values, depending on the path taken."""

    options: tuple[Value, ...]
    ranked: bool = False
    """True where it is None on some replicas and something else on the others."""


DEEPEST_JOIN = 7
"""Containers nested more deeply than this are not told apart."""


class _Nesting:
    """How many joins are under way inside each other."""

    depth = 0


_nesting = _Nesting()
MOST_OPTIONS = 8


def options(value: Value) -> tuple[Value, ...]:
    """The alternatives of a value."""
    return value.options if isinstance(value, Choice) else (value,)


DEEPEST = 6
"""How deep containers may be nested that the program fills step by step."""


def bounded(value: Value, owner: Value) -> Value:
    """What a container keeps of a value: UNKNOWN where it would hold itself, or be nested too deep."""
    return UNKNOWN if _holds(value, owner, DEEPEST) else value


def _holds(value: Value, owner: Value, depth: int) -> bool:
    if not isinstance(value, (Choice, Sequence, Mapping)):
        return False
    if value is owner or depth == 0:
        return True
    if isinstance(value, Choice):
        return any(_holds(option, owner, depth) for option in value.options)
    if isinstance(value, Sequence):
        return any(_holds(item, owner, depth - 1) for item in (*(value.items or ()), value.element))
    parts = (*value.entries.values(), *(() if value.element is None else (value.element,)))
    return any(_holds(part, owner, depth - 1) for part in parts)


def join(a: Value, b: Value) -> Value:
    """The value that stands for both."""
    if a is b:
        return a
    if _nesting.depth >= DEEPEST_JOIN:
        return UNKNOWN
    _nesting.depth += 1
    try:
        if isinstance(a, Choice) or isinstance(b, Choice):
            joined = choose([*options(a), *options(b)])
            ranked = any(isinstance(side, Choice) and side.ranked for side in (a, b))
            return per_replica(joined) if ranked else joined
        merged = _merge(a, b)
        return merged if merged is not None else choose([a, b])
    finally:
        _nesting.depth -= 1


def per_replica(value: Value) -> Value:
    """A value that is None on some replicas only, where it may be None at all."""
    return replace(value, ranked=True) if isinstance(value, Choice) and NONE in value.options else value


def may_alias(values: list[Value]) -> Value:
    """One of several objects that exist already: lists and dicts stay themselves, so that a change reaches them."""
    distinct = list(dict.fromkeys(values))
    if 1 < len(distinct) <= MOST_OPTIONS and all(is_mutable(value) for value in distinct):
        return Choice(tuple(distinct))
    return join_all(values)


def is_mutable(value: Value) -> bool:
    """Whether a value is a container that its holders share."""
    return isinstance(value, Mapping) or (isinstance(value, Sequence) and not value.frozen)


def join_all(values: Iterable[Value]) -> Value:
    """The value that stands for all of them; UNKNOWN for none."""
    result: Value | None = None
    for value in values:
        result = value if result is None else join(result, value)
    return UNKNOWN if result is None else result


def choose(values: list[Value]) -> Value:
    """A `Choice` with equals merged, or the one value that is left."""
    left: list[Value] = []
    for value in values:
        for position, other in enumerate(left):
            merged = value if value is other else _merge(other, value)
            if merged is not None:
                left[position] = merged
                break
        else:
            left.append(value)
    if len(left) == 1:
        return left[0]
    return Choice(tuple(left)) if len(left) <= MOST_OPTIONS else UNKNOWN


def _merge(a: Value, b: Value) -> Value | None:
    """One value for two of the same type, or None where they stay apart."""
    if type(a) is not type(b):
        return None
    merge = _MERGERS.get(type(a))
    if merge is not None:
        merged: Value | None = merge(a, b)
        return merged
    return a if a == b else None


def _merge_numbers(a: Number, b: Number) -> Number:
    if a == b:
        return a
    differing = (a.traits | b.traits) & {Trait.RANK}
    return Number(a.const if a.const == b.const else None, a.loops | b.loops, (a.traits & b.traits) | differing)


def _merge_texts(a: Text, b: Text) -> Text:
    return a if a == b else Text(ranked=a.ranked or b.ranked)


def _merge_tensors(a: Tensor, b: Tensor) -> Tensor | None:
    if a.place is not b.place:
        return None
    if (a.recorded_in, a.kind, a.grad, a.unstructured, a.sites, a.made) == (
        b.recorded_in,
        b.kind,
        b.grad,
        b.unstructured,
        b.sites,
        b.made,
    ):
        if (a.length, a.origins, a.collective, a.shared) == (b.length, b.origins, b.collective, b.shared):
            return a
        return a.like(
            length=a.length if a.length == b.length else None,
            origins=a.origins | b.origins,
            collective=a.collective or b.collective,
            shared=a.shared and b.shared,
        )
    newer = b if b.recorded_in >= a.recorded_in else a
    return Tensor(
        a.place,
        newer.recorded_in,
        newer.line,
        newer.home,
        kind=a.kind if a.kind is b.kind else Kind.UNKNOWN,
        grad=a.grad or b.grad,
        unstructured=a.unstructured or b.unstructured,
        certain=a.certain and b.certain,
        length=a.length if a.length == b.length else None,
        sites=a.sites | b.sites,
        clip=a.clip and b.clip,
        parts=a.parts | b.parts,
        origins=a.origins | b.origins,
        collective=a.collective or b.collective,
        shared=a.shared and b.shared,
    )


def _merge_sequences(a: Sequence, b: Sequence) -> Sequence:
    if a.items is not None and b.items is not None and len(a.items) == len(b.items):
        pairs = [join(x, y) for x, y in zip(a.items, b.items, strict=True)]
        if a.frozen or pairs == a.items:
            return Sequence(pairs, join_all(pairs), a.frozen and b.frozen)
    if not a.frozen and not b.frozen:
        return Sequence(None, join(element_of(a), element_of(b)))
    return Sequence(None, join(element_of(a), element_of(b)), a.frozen and b.frozen)


def element_of(sequence: Sequence) -> Value:
    """What iterating a sequence yields."""
    return join_all(sequence.items) if sequence.items else sequence.element


def _merge_mappings(a: Mapping, b: Mapping) -> Mapping:
    entries = {
        key: join(a.entries[key], b.entries[key])
        if key in a.entries and key in b.entries
        else a.entries.get(key) or b.entries[key]
        for key in {**a.entries, **b.entries}
    }
    both = [v for v in (a.element, b.element) if v is not None]
    return Mapping(entries, join_all(both) if both else None, a.factory if a.factory is b.factory else None)


def _merge_streams(a: Stream, b: Stream) -> Stream | None:
    if a.source is not b.source or len(a.pieces) != len(b.pieces):
        return None
    return Stream(join(a.element, b.element), a.source, a.counted and b.counted, a.pieces)


def _merge_instances(a: Instance, b: Instance) -> Instance | None:
    if a.cls is None or a.cls is not b.cls or a.place is not b.place or a.node is not b.node:
        return None
    return b


_MERGERS: dict[type[Value], Callable[[Any, Any], Value | None]] = {
    Number: _merge_numbers,
    Text: _merge_texts,
    Tensor: _merge_tensors,
    Sequence: _merge_sequences,
    Mapping: _merge_mappings,
    Stream: _merge_streams,
    Instance: _merge_instances,
}


HOLDERS = (Choice, Sequence, Mapping, Instance)


def tensors_in(value: Value, depth: int = 4) -> Iterable[Tensor]:
    """The tensors that a value holds, through containers and plain objects."""
    if isinstance(value, Tensor):
        yield value
    elif depth == 0 or not isinstance(value, HOLDERS):
        return
    elif isinstance(value, Choice):
        for option in value.options:
            yield from tensors_in(option, depth)
    elif isinstance(value, Sequence):
        for item in value.items if value.items is not None else (value.element,):
            yield from tensors_in(item, depth - 1)
    elif isinstance(value, Mapping):
        for item in value.entries.values():
            yield from tensors_in(item, depth - 1)
        if value.element is not None:
            yield from tensors_in(value.element, depth - 1)
    elif isinstance(value, Instance) and not value.model:
        for item in value.attributes.values():
            yield from tensors_in(item, depth - 1)
