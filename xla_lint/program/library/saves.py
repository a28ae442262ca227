"""What writes values to files: `torch.save`, a backend's own ways to save, and trackers that watch a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend import names, spelled
from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.events import How, Save
from xla_lint.program.domain.values import NONE, TEXT, UNKNOWN, Instance, Value
from xla_lint.program.domain.walk import DATA, found_in, tensors_in
from xla_lint.program.library.contents import place_in
from xla_lint.program.library.registry import function
from xla_lint.program.syntax.spelling import source_of

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine

SAVES = {
    "torch.save": ("torch.save", "obj"),
    **{dotted: (spelled(dotted), "data") for dotted in names(Role.SAVE)},
    "wandb.watch": ("wandb.watch", "models"),
}
"""How each is spelled, and the parameter that takes the values."""


@function(*SAVES)
def save(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Values are saved."""
    how, parameter = SAVES[dotted]
    node = arguments.node_of(0, parameter)
    what = source_of(node) if node is not None else "the values"
    write(machine, arguments.node, how, what, arguments.get(0, parameter) or UNKNOWN)
    return NONE


def write(machine: Machine, node: nodes.NodeNG, how: str, what: str, value: Value) -> None:
    """Let a value be saved; `how` and `what` are spelled as a message names them."""
    place, certain = place_in(value)
    recorded = [tensor for tensor in tensors_in(value) if machine.is_pending(tensor)]
    collective = any(tensor.collective for tensor in recorded)
    pending = bool(recorded) or machine.here.updated
    whole = any(found.model for found in found_in(value, Instance, DATA))
    machine.emit(Save(node, machine.context, how, what, place, certain, collective, pending, whole))


@function("pickle.dump", "pickle.dumps")
def serialise(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """What is written is fetched."""
    for value in arguments.positional[:1]:
        machine.read(arguments.node, arguments.node_of(0), value, How.VALUE, f"{dotted}()", materialises=True)
    return TEXT


@function("json.dump", "json.dumps", "yaml.dump", "yaml.safe_dump")
def write_text(machine: Machine, dotted: str, arguments: Arguments) -> Value:
    """Text, written or given: whoever reads it gets no data from it, whichever replica wrote it."""
    return TEXT if dotted == "json.dumps" or len(arguments.positional) == 1 else NONE
