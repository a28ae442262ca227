"""What a program defines and imports: functions, classes, members of enumerations, modules."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from xla_lint.program.domain.values import Value

if TYPE_CHECKING:
    from pathlib import Path

    from astroid import nodes

    from xla_lint.program.domain.compilations import Compilation
    from xla_lint.program.domain.state import Frame


@dataclass(slots=True, unsafe_hash=True)
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
    compilation: Compilation | None = None
    """What `torch.compile` was asked to do with it, for the device of a native backend."""
    inference: nodes.NodeNG | None = None
    """The decorator that runs it under `inference_mode`, inside what is compiled."""
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


class GradientHook(NamedTuple):
    """A function that runs with the backward pass."""

    function: Function
    first: tuple[Value, ...]
    """What it is given before the gradients."""
    gradients: int
    """How many gradients it is given."""
    certain: bool
    """Whether these surely live on the device."""
    entry: int
    """The entry point of the program (`Position.entry_point`) that registered it."""


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
    order: list[Value] | None = None
    """Itself and its bases, in the order in which Python looks for a member, once that was asked (`lineage`)."""


@dataclass(slots=True, frozen=True)
class Member(Value):
    """A member of an enumeration of the project."""

    node: nodes.NodeNG
    """The definition of the enumeration."""
    name: str
    cls: Class = field(compare=False)
    value: Value = field(compare=False)


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
