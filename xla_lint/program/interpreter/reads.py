"""The host asks for a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.definitions import Function
from xla_lint.program.domain.events import How, Read
from xla_lint.program.domain.objects import bound_to, member_of, without_assumed
from xla_lint.program.domain.values import NONE, TEXT, Instance, Location, Sequence, options
from xla_lint.program.domain.walk import tensors_in
from xla_lint.program.machine.arguments import Arguments
from xla_lint.program.machine.host_parts import use_on_host
from xla_lint.program.syntax.spelling import REFERENCES, source_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from xla_lint.program.domain.loaders import Logger
    from xla_lint.program.domain.values import Tensor, Value
    from xla_lint.program.machine.machine import Machine


def read(
    machine: Machine,
    node: nodes.NodeNG,
    subject: nodes.NodeNG | None,
    value: Value,
    how: How,
    spelled: str,
    *,
    materialises: bool = False,
    logger: Logger | None = None,
    level: int = 0,
) -> bool:
    """Let the host ask for a value. An object of the project is formatted as its own method says.

    What is only assumed to be a tensor is none where it may as well be a text, and nothing is asked for that only
    tensors have; nor is what a test told from one.
    """
    if how in (How.FORMAT, How.BRANCH):
        value = without_assumed(value)
    if how is not How.FORMAT:
        return read_tensors(machine, node, subject, value, how, spelled, materialises=materialises)
    found = False
    for option in options(value):
        inner = shown(machine, option, node, spelled)
        asked = option if inner is None else inner
        found |= read_tensors(
            machine, node, subject, asked, how, spelled, materialises=materialises, logger=logger, level=level
        )
    return found


def read_tensors(
    machine: Machine,
    node: nodes.NodeNG,
    subject: nodes.NodeNG | None,
    value: Value,
    how: How,
    spelled: str,
    *,
    materialises: bool,
    logger: Logger | None = None,
    level: int = 0,
) -> bool:
    """Let the host ask for the tensors in a value: for each of them to format it, else for the first one there is."""
    found = False
    for tensor in tensors_in(value):
        if tensor.place is not Location.DEVICE:
            use_on_host(machine, tensor, chooses=how is How.BRANCH)
            continue
        found = True
        state, pending = machine.here, machine.is_pending(tensor)
        what = named(machine, subject if subject is not None else node, tensor)
        on_every_path = len(state.epochs) == 1 or not pending
        machine.emit(Read(node, machine.context, how, what, spelled, tensor, pending, on_every_path, logger, level))
        if pending and logger is None and machine.loop is not None and not machine.is_conditional:
            machine.loop.note_fetch()
        if materialises and logger is None and pending:
            state.materialised |= {tensor.memory}
        if how is not How.FORMAT:
            break
    return found


def named(machine: Machine, node: nodes.NodeNG, tensor: Tensor) -> str:
    """How a message names a tensor: as the part of a display or of a call's arguments that it is, if it has a name."""
    for part in parts_of(node):
        if isinstance(part, REFERENCES) and any(option is tensor for option in options(machine.quietly(part))):
            return source_of(part)
    return source_of(node)


def parts_of(node: nodes.NodeNG) -> Iterator[nodes.NodeNG]:
    """What a display holds, and what a call is given, at any depth."""
    if isinstance(node, nodes.Dict):
        inside: list[Any] = [value for _, value in node.items]
    elif isinstance(node, (nodes.List, nodes.Tuple, nodes.Set)):
        inside = list(node.elts)
    elif isinstance(node, nodes.Call):
        inside = [*node.args, *(keyword.value for keyword in node.keywords)]
    else:
        return
    for part in inside:
        yield part
        yield from parts_of(part)


def read_each(
    machine: Machine,
    arguments: Arguments,
    how: How,
    spelled: str,
    *,
    first: int = 0,
    materialises: bool = False,
    logger: Logger | None = None,
    level: int = 0,
) -> bool:
    """Let the host ask for every positional argument from `first` on; True where a device tensor was read."""
    found = False
    for position, value in enumerate(arguments.positional[first:], first):
        subject = arguments.node_of(position)
        found |= machine.read(
            arguments.node, subject, value, how, spelled, materialises=materialises, logger=logger, level=level
        )
    return found


def shown(machine: Machine, value: Value, node: nodes.NodeNG, spelled: str) -> Value | None:
    """What formatting an object of the project formats in turn; None for other values."""
    if not isinstance(value, Instance) or value.cls is None or value.model:
        return None
    names = ("__format__", "__str__", "__repr__") if spelled == "f-string" else ("__str__", "__repr__")
    for name in names:
        method = member_of(value.cls, name)
        if isinstance(method, Function):
            given: list[Value] = [TEXT] if name == "__format__" else []
            machine.call_function(bound_to(method, value), Arguments(node, given))
            return NONE
    return Sequence(list(value.attributes.values())) if value.cls.fields is not None else NONE
