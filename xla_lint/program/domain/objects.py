"""Functions, classes and loaders of the project: what can be told of them without running anything."""

from __future__ import annotations

from dataclasses import fields
from operator import attrgetter
from typing import TYPE_CHECKING, TypeGuard

from xla_lint.program.backend import names
from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.definitions import Class, Function, Member
from xla_lint.program.domain.join import choose, join_all, may_alias
from xla_lint.program.domain.loaders import Loader
from xla_lint.program.domain.module_classes import is_module_class
from xla_lint.program.domain.values import (
    NO_TENSOR,
    NUMBER,
    TEXT,
    UNKNOWN,
    Choice,
    Instance,
    Location,
    Mapping,
    Move,
    Name,
    Number,
    Sequence,
    Tensor,
    Text,
    Trait,
    Value,
    options,
)
from xla_lint.program.domain.walk import DEPTH, EVERYTHING, SOURCES, found_in, walk

if TYPE_CHECKING:
    from xla_lint.program.domain.loops import Loop
    from xla_lint.program.syntax.uses import Use

ENUMERATIONS = frozenset({"enum.Enum", "enum.Flag"})
PLAIN_ENUMERATIONS = frozenset({"enum.IntEnum", "enum.StrEnum", "enum.IntFlag", "builtins.str", "builtins.int"})
NUMBERED = "#"
"""What the key of an entry begins with whose key in the program is a number."""
OPEN = "?"
"""The library of an object of which nothing is known but that the program puts things on it."""
OPEN_LIBRARIES = frozenset({OPEN, "argparse.Namespace", "types.SimpleNamespace", "omegaconf.DictConfig"})
NAMED_TUPLE = "typing.NamedTuple"
ITEMS = "[]"
"""The attribute, of a name that no program can give, which holds the items of an object derived from a container."""
CONTAINERS = {
    "builtins.dict": "builtins.dict",
    "builtins.list": "builtins.list",
    "builtins.tuple": "builtins.tuple",
    "builtins.set": "builtins.set",
    "collections.OrderedDict": "builtins.dict",
    "collections.UserDict": "builtins.dict",
    "collections.UserList": "builtins.list",
    "collections.defaultdict": "collections.defaultdict",
    "collections.deque": "collections.deque",
    "typing.Dict": "builtins.dict",
    "typing.List": "builtins.list",
    "typing.OrderedDict": "builtins.dict",
}
"""The containers that classes derive from: each with what such an object's items are kept in."""
AUTOGRAD_FUNCTION = "torch.autograd.Function"
SINGLE_DISPATCH, DEFAULT = "functools.singledispatch", "object"
"""A function that chooses among others by the type of its first argument, and the type of the one it begins with."""
OPTIMIZERS = ("torch.optim.", *names(Role.OPTIMIZERS))
SCHEDULES = ("torch.optim.lr_scheduler.", "torch.optim.swa_utils.")
COMPILED_MODEL = "torch.compile"
"""What a model is that a backend's compiler has compiled, and how the barrier is spelled that each call of it is."""


class Super(Value):
    """`super()` inside a method."""

    __slots__ = ("owner", "receiver")

    def __init__(self, owner: Class, receiver: Value) -> None:
        self.owner = owner
        self.receiver = receiver


_all_of_function = attrgetter(*(part.name for part in fields(Function)))


def bound_to(function: Function, receiver: Value) -> Function:
    """A function as a method of its receiver."""
    bound = Function(*_all_of_function(function))
    bound.receiver = receiver
    return bound


def model_on_device(value: Tensor) -> Instance:
    """The model that an undecided value, which a move gave, turned out to be."""
    moves = (Move(value.line, value.place, 0),)
    return Instance(None, "torch.nn.Module", place=value.place, model=True, certain=False, moves=moves)


def is_undecided(value: Value) -> bool:
    """Whether a value may be a model or a tensor: something unknown that was moved to the device."""
    if isinstance(value, Choice):
        return any(map(is_undecided, value.options))
    return isinstance(value, Tensor) and value.undecided


def resolved(value: Value, use: Use | None) -> Value:
    """What an undecided value is by its use under one name: a model, a tensor, or still open."""
    return join_all(
        _resolved(option, use) if isinstance(option, Tensor) and option.undecided else option
        for option in options(value)
    )


def _resolved(value: Tensor, use: Use | None) -> Value:
    if use is not None and (use.is_model or use.called):
        return model_on_device(value)
    return value.like(undecided=False) if use is not None and use.is_tensor else value


def lineage(cls: Class) -> list[Value]:
    """A class and its bases, in the order in which Python looks for a member."""
    if cls.order is None:
        order: list[Value] = [cls]
        for base in cls.bases:
            order += lineage(base) if isinstance(base, Class) else [base]
        cls.order = list(reversed(dict.fromkeys(reversed(order))))
    return cls.order


def library_base(cls: Class) -> str:
    """The dotted name of the library class that a class derives from, empty where there is none."""
    for base in cls.bases:
        if isinstance(base, Name):
            return base.dotted
        if isinstance(base, Class) and (found := library_base(base)):
            return found
    return ""


def items_of(value: Value | None) -> Mapping | Sequence | None:
    """The items of an object of a class that derives from a container; None for all other values."""
    items = value.attributes.get(ITEMS) if isinstance(value, Instance) else None
    return items if isinstance(items, (Mapping, Sequence)) else None


def as_container(value: Value | None) -> Value | None:
    """A value as what reads containers takes it: the items of an object that is one."""
    return items_of(value) or value


def is_enumeration(cls: Class, member: Value) -> bool:
    """Whether a member of a class is one of an enumeration; those of an `IntEnum` or `StrEnum` are plain values."""
    base = library_base(cls)
    return base in ENUMERATIONS or (base in PLAIN_ENUMERATIONS and member is UNKNOWN)


def is_dispatcher(value: Value) -> bool:
    """Whether a value is a function under `functools.singledispatch`."""
    return isinstance(value, Instance) and value.library == SINGLE_DISPATCH


def is_model(cls: Class) -> bool:
    """Whether a class derives from `torch.nn.Module`."""
    for base in cls.bases:
        if isinstance(base, Name) and is_module_class(base.dotted):
            return True
        if isinstance(base, Class) and is_model(base):
            return True
    return False


def is_drawn(value: Value) -> bool:
    """Whether a value is a tensor that holds a random number drawn on the host."""
    return isinstance(value, Tensor) and value.drawn and value.place is Location.HOST


def without_assumed(value: Value) -> Value:
    """A value without what is only assumed to be a tensor where it may be a text; without any where a test was made."""
    found = options(value)
    tested = NO_TENSOR in found
    if not tested and not any(isinstance(option, Text) for option in found):
        return value
    return choose(o for o in found if not isinstance(o, Tensor) or (o.certain and not tested))


def any_of(values: list[Value]) -> Value:
    """What a key that is not known gives: where there are texts as well, it is only assumed to name a tensor."""
    value = may_alias(values)
    if not any(isinstance(option, Text) for option in options(value)):
        return value
    return choose(o.like(certain=False) if isinstance(o, Tensor) else o for o in options(value))


def loader_of(value: Value) -> Loader | None:
    """The loader that iterating a value iterates, through `enumerate`, `zip`, `tqdm` and `iter`."""
    return next(iter(found_in(value, Loader, SOURCES)), None)


def hides_loader(iterable: Value) -> bool:
    """Whether what is iterated, or a part of it, cannot be seen, so that it may be the loader of a device."""
    return any(source is UNKNOWN for source in walk(iterable, SOURCES))


def note_loaders(loop: Loop, iterable: Value) -> None:
    """Let a loop know what it iterates, and the loaders among that know the loop."""
    loop.iterate(iterable, loader_of(iterable))
    for loader in (found for option in options(iterable) if (found := loader_of(option)) is not None):
        loader.feed(loop)


def loaders_of(value: Value) -> list[Loader]:
    """Every loader that iterating a value may iterate, by path; empty where it may iterate something else."""
    found = [loader_of(option) for option in options(value)]
    known = [loader for loader in found if loader is not None]
    return known if len(known) == len(found) else []


def differs_between_replicas(value: Value | None) -> bool:
    """Whether a value holds a number that is another one on each replica, so that it may split the data itself."""
    if value is None:
        return False
    parts = walk(value, EVERYTHING, DEPTH - 1) if type(value) in EVERYTHING else (value,)
    for part in parts:
        if Trait.RANK in part.traits if isinstance(part, Number) else isinstance(part, Text) and part.ranked:
            return True
    return False


def is_optimizer(value: Value) -> TypeGuard[Instance]:
    """Whether a value is an optimizer; schedules and averaged models are none."""
    return isinstance(value, Instance) and value.library.startswith(OPTIMIZERS) and not is_schedule(value)


def is_open(value: Value | None) -> TypeGuard[Instance]:
    """Whether a value is an object that holds what was put on it, and else what is not known."""
    return isinstance(value, Instance) and value.library in OPEN_LIBRARIES


def is_schedule(value: Value) -> TypeGuard[Instance]:
    """Whether a value is a schedule of learning rates, or an averaged model."""
    return isinstance(value, Instance) and value.library.startswith(SCHEDULES)


def is_assumed(model: Instance) -> bool:
    """Whether a model, whose construction is not in sight, is only assumed to be on the device."""
    return model.node is None and not model.certain and not model.moves


def key_of(value: Value | None) -> str | None:
    """The key under which a dict keeps what a value indexes; None where that is not known."""
    if isinstance(value, Text):
        return value.const
    if isinstance(value, Number):
        return f"{NUMBERED}{value.const}" if isinstance(value.const, int) else None
    return f"{value.node.root().name}:{value.node.lineno}.{value.name}" if isinstance(value, Member) else None


def keys_of(mapping: Mapping) -> Value:
    """What any key of a dict is."""
    numbered = [key.startswith(NUMBERED) for key in mapping.entries]
    return NUMBER if numbered and all(numbered) and mapping.element is None else UNKNOWN if any(numbered) else TEXT


def is_tuple(cls: Class) -> bool:
    """Whether a class is one of named tuples."""
    return cls.fields is not None and library_base(cls) == NAMED_TUPLE


def fields_of(value: Value, *, of_any: bool = False) -> Sequence | None:
    """The fields of a named tuple in order, with `of_any` those of a dataclass too; None for other values."""
    if not isinstance(value, Instance) or value.cls is None or value.cls.fields is None:
        return None
    if not of_any and not is_tuple(value.cls):
        return None
    return Sequence([value.attributes.get(name, UNKNOWN) for name in value.cls.fields], UNKNOWN, True)


def member_of(cls: Class | None, name: str) -> Value | None:
    """A member of a class or of its bases in the project; None where no class in sight defines it."""
    if cls is None:
        return None
    if name in cls.members or not cls.bases:
        return cls.members.get(name)
    classes = (base for base in lineage(cls) if isinstance(base, Class))
    return next((base.members[name] for base in classes if name in base.members), None)
