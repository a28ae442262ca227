"""The closed set of changes that rules offer beside their findings, as plain data.

A change says where something stands and what is to become of it. Whether the source around it allows that, and how it
is written there, is found out when the edits are asked for: `edits.py`.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol


class Placed(Protocol):
    """A node of a syntax tree, with the places that Python's own `ast` gives."""

    lineno: int | None
    col_offset: int | None
    end_lineno: int | None
    end_col_offset: int | None


class Span(NamedTuple):
    """Where a node stands, as Python's `ast` counts: lines from 1, columns from 0 in bytes of UTF-8."""

    line: int
    column: int
    end_line: int
    end_column: int

    @classmethod
    def of(cls, node: Placed) -> Span:
        """The span of a node."""
        line, column = node.lineno or 0, node.col_offset or 0
        return cls(line, column, node.end_lineno or line, node.end_col_offset or column)


class Name(NamedTuple):
    """Something importable."""

    module: str
    attribute: str = ""
    """What is meant of the module; empty: the module itself."""
    alias: str | None = None
    """The name by which people import the module, where they do not spell it out."""

    @property
    def dotted(self) -> str:
        """The whole name."""
        return f"{self.module}.{self.attribute}" if self.attribute else self.module


Takes = tuple[tuple[str, str | None], ...]
"""How a function's arguments are called by another one, in their order; None: the other one has no such argument."""


class Refer(NamedTuple):
    """A reference becomes one to something else."""

    at: Span
    to: Name
    takes: Takes | None = None
    """What becomes of the arguments where it is called; None: they stay as they are."""


class ImportInstead(NamedTuple):
    """An import brings something else in place of one of its names; so do the references to that name."""

    at: Span
    """The statement."""
    old: str
    """The dotted name that goes."""
    to: Name
    takes: Takes | None = None
    """What becomes of the arguments where it is called; None: they stay as they are."""
    members: frozenset[str] | None = None
    """What may be used of a module that goes: all that the other one is known to have."""


class Give(NamedTuple):
    """A call gets an argument, in place of the one that it has."""

    name: str
    value: str | Name
    position: int | None = None
    """Where it may stand without its name."""


class Drop(NamedTuple):
    """A call loses an argument, if it has it."""

    name: str
    position: int | None = None


class Call(NamedTuple):
    """An argument is called by another name, if it is there; one that has none by its position."""

    name: str
    to: str
    position: int | None = None


class ChangeCall(NamedTuple):
    """A call gets other arguments, and may become one of another function."""

    at: Span
    arguments: tuple[Give | Drop | Call, ...] = ()
    function: Name | None = None


class Append(NamedTuple):
    """An expression is followed by something: `loss` by `.detach()`."""

    at: Span
    text: str


class PassTo(NamedTuple):
    """A call of a method becomes one of a function that takes the object first."""

    at: Span
    function: str


class Fill(NamedTuple):
    """An assignment through a mask becomes an operation of fixed shape on the same tensor."""

    at: Span
    where: Name
    """What chooses between two tensors by a mask."""


class MoveBehind(NamedTuple):
    """A statement that reads values moves behind the barrier that computes them."""

    at: Span
    """The statement, or one inside it."""
    behind: Span
    """The barrier, a statement of the same block."""
    subjects: tuple[str, ...]
    """The variables whose values are read."""


class MoveAhead(NamedTuple):
    """The statement of a line moves in front of another one, with what it needs of those between."""

    line: int
    ahead_of: Span


class Defer(NamedTuple):
    """A call is handed to something that makes it later, with the values that it has now."""

    at: Span
    """The statement that is the call."""
    until: Span | None
    """The statement that makes it, behind it in the same block or one around it; None: the next turn of the loop."""
    register: Name
    """What takes a function and its arguments: `register(function, args=(...))`."""


Parts = tuple["str | Name | Span", ...]
"""An expression in parts: texts, importable names, and parts of the source that stay as they are."""


class Write(NamedTuple):
    """Another expression takes the place of one."""

    at: Span
    parts: Parts


class Guard(NamedTuple):
    """A statement that is a call is made under a condition from then on, and calls another function."""

    at: Span
    function: Parts
    condition: Parts


class Remove(NamedTuple):
    """A statement goes that is a call, or an assignment."""

    at: Span


class Unwrap(NamedTuple):
    """A `with` goes, and its body stays."""

    at: Span


class Unimport(NamedTuple):
    """An import brings nothing of a package any more, which nothing uses."""

    at: Span
    package: str


class SumUp(NamedTuple):
    """A total of values that a loop reads becomes one of tensors, which is read behind the loop."""

    read: Span
    """The call that gives the value."""
    tensor: Span
    """What is read, inside that call."""
    loop: Span
    total: str
    """The variable."""
    counts: bool
    """Whether it is a whole number."""


class Gather(NamedTuple):
    """A list of values that a loop reads becomes one of tensors, which is read behind the loop."""

    read: Span
    """The call that gives the value."""
    tensor: Span
    """What is read, inside that call."""
    loop: Span
    values: str
    """The variable."""
    kind: str
    """`float` or `int` where that surely is what the list holds; empty where only the tensors know."""


Change = (
    Refer | ImportInstead | ChangeCall | Append | PassTo | Fill | MoveBehind | MoveAhead | Defer
    | Write | Guard | Remove | Unwrap | Unimport | SumUp | Gather
)  # fmt: skip


class Fix(NamedTuple):
    """A kind of fix that a rule offers."""

    what: str
    """What it does, as an editor's menu says it: `write drop_last=True`."""
    safe: bool
    """Whether it surely changes no result of the program."""


class Repair(NamedTuple):
    """What a fix does about one finding."""

    fix: Fix
    changes: tuple[Change, ...]
    """All are made, or none."""
