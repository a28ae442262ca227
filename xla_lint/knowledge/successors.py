"""What each name of torch_xla becomes on the backends that succeed it. Source: `successors.json` names it.

`successor(dotted, "torch_tpu")` says of a canonical dotted name (`xla_lint.program.syntax.names`), and
`text_successor(Kind.DEVICE, "xla", "torch_tpu")` of a text that stands for torch_xla in a call: each what replaces it,
and how hard the replacing is (`Group`). `BACKENDS` lists the successors. Every name below `torch_xla.` has an answer
unless it is that of a module with rows of its own: one that the table does not list is `Group.THOUGHT` with nothing in
its place. What is mechanical about a name is in its `Form`s.
"""

from __future__ import annotations

import enum
import functools
from typing import Any, NamedTuple

from xla_lint.knowledge.tables import load

BACKENDS = ("torch_tpu", "torch_neuron")


class Group(enum.Enum):
    """How hard it is to replace something."""

    RENAME = "rename"
    """Another spelling says the same."""
    GONE = "goes away"
    """Nothing takes its place, and nothing need."""
    THOUGHT = "needs thought"
    """What takes its place works in another way, or is not known."""


class Kind(enum.Enum):
    """What a text stands for, where a call is given it."""

    DEVICE = "device"
    PROCESS_GROUP = "process group"
    INIT_METHOD = "init method"
    COMPILER = "compiler"


class Stands(enum.Enum):
    """As what a name stands in the source."""

    CALL = "call"
    """It is called."""
    STATEMENT = "statement"
    """Its call is a statement."""
    CONTEXT = "context"
    """Its call is all that a `with` enters, and nothing is bound to it."""
    DECORATOR = "decorator"
    """It decorates, and is not called."""
    NAME = "name"
    """In whatever way."""


class Caveat(enum.Enum):
    """What must hold for a form to say the same."""

    GROUP = "process group"
    """The program has joined a process group by then."""
    GRADIENTS = "gradients"
    """Something else reduces the gradients."""
    EACH_HOST = "each host"
    """There is one host, or one of all will do where there was one on each."""


class Form(NamedTuple):
    """One way to use a name, for which it is known word by word what takes its place."""

    stands: Stands
    writes: str | None
    """What takes its place; None: nothing. In it, `<module:name>` is something importable, a `*` in that the last part
    of the name, and `<parameter>` the argument of the call."""
    parameters: tuple[str, ...] | None
    """Those of the call; an argument that is neither written, nor left out, nor as it is given does not fit. None: the
    arguments stay as they are."""
    ignores: frozenset[str]
    """The parameters whose arguments are left out."""
    given: tuple[tuple[str, str], ...]
    """The parameters that must be given, each with the source of its argument."""
    without: frozenset[str]
    """The keywords that must not be given."""
    under: str | None
    """The condition under which the statement is made from then on, written as `writes` is."""
    caveat: Caveat | None


class Successor(NamedTuple):
    """What becomes of a name or a text on one backend."""

    name: str
    """The row of the table: the name itself, or with a dot at its end a module around it."""
    group: Group
    becomes: str | None
    """What to write instead; None where it is dropped, or where nothing is known."""
    note: str
    """What else to know; empty where that is all."""
    forms: tuple[Form, ...] = ()
    """What is mechanical about it: the first that fits a use tells what takes its place."""
    by_import: bool = False
    """Whether importing it does something by itself."""

    @property
    def advice(self) -> str:
        """What to do about it, in a few words."""
        if self.becomes is None:
            return f"drop it ({self.note})" if self.group is Group.GONE else self.note
        return f"write {self.becomes}" + (f" ({self.note})" if self.note else "")


def unused(dotted: str, backend: str) -> Successor:
    """What becomes of an import of torch_xla that brings nothing which is used."""
    answer = successor(dotted, backend)
    if answer is not None and answer.by_import:
        return answer
    return Successor(dotted, Group.GONE, None, "nothing uses it")


def successor(dotted: str, backend: str) -> Successor | None:
    """What a name of torch_xla becomes on a backend; None for a name of another package, and for that of a module."""
    names = _names(backend)
    if dotted in names or any(name.startswith(f"{dotted}.") for name in names):
        return names.get(dotted)
    package = dotted
    while "." in package:
        package = package.rpartition(".")[0]
        if f"{package}." in names:
            return names[f"{package}."]
    return None


def text_successor(kind: Kind, text: str, backend: str) -> Successor | None:
    """What a text becomes that stands for torch_xla, None for any other text. A device may have an index, `xla:0`."""
    return _texts(backend).get((kind, text.partition(":")[0] if kind is Kind.DEVICE else text))


@functools.cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = load("successors")
    return table


@functools.cache
def _names(backend: str) -> dict[str, Successor]:
    return {row["name"]: _successor(row, row["name"], backend) for row in _table()["names"]}


@functools.cache
def _texts(backend: str) -> dict[tuple[Kind, str], Successor]:
    return {(Kind(row["kind"]), row["text"]): _successor(row, row["text"], backend) for row in _table()["texts"]}


def _successor(row: dict[str, Any], name: str, backend: str) -> Successor:
    """A row of the table as one backend has it: what it says of the device's type counts before what it says of all."""
    spellings = _table()["backends"][backend]
    device = spellings["device"]
    becomes = row.get(device, row.get("becomes"))
    note = row.get(f"{device}_note", row.get("note", ""))
    forms = tuple(_form(form, backend) for form in row.get("forms", ()))
    return Successor(
        name,
        Group(row["group"]),
        becomes.format(**spellings) if becomes else None,
        note,
        forms,
        row.get("by_import", False),
    )


@functools.cache
def _form(name: str, backend: str) -> Form:
    row, spellings = _table()["forms"][name], _table()["backends"][backend]
    writes, parameters = row.get("writes"), row.get("parameters", ())
    return Form(
        stands=Stands(row.get("stands", "call")),
        writes=writes.format(**spellings) if writes is not None else None,
        parameters=tuple(parameters) if parameters is not None else None,
        ignores=frozenset(row.get("ignores", ())),
        given=tuple(row.get("given", {}).items()),
        without=frozenset(row.get("without", ())),
        under=row.get("under"),
        caveat=Caveat(row["caveat"]) if "caveat" in row else None,
    )
