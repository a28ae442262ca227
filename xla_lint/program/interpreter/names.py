"""What names stand for, and what their use shows where nothing else is known."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.backend import OWN_PACKAGES, backend_of
from xla_lint.program.domain.definitions import Imported
from xla_lint.program.domain.events import ForeignName
from xla_lint.program.domain.join import join_all
from xla_lint.program.domain.objects import OPEN, is_undecided, resolved
from xla_lint.program.domain.values import UNKNOWN, Choice, Instance, Location, Name
from xla_lint.program.syntax.unused import unused_names
from xla_lint.program.syntax.uses import is_member, path_of, receiver_of

if TYPE_CHECKING:
    from xla_lint.program.domain.values import Value
    from xla_lint.program.machine.machine import Machine


BUILTINS = {name: Name("builtins." + name) for name in dir(builtins)}
IMPORTS = frozenset({Imported, Choice})
"""What may stand for an import of the project's own that was not looked up yet: itself, or one of several paths."""


def lookup(machine: Machine, name: str) -> Value:
    """What a name stands for here."""
    at = machine.at
    state, frame = at.state, at.frame
    assert state is not None
    value = state.env.get(name)
    if value is not None and name not in frame.outside:
        return value if type(value) not in IMPORTS else known(machine, state.env, name)
    outer = frame.outside.get(name, frame.outer)
    while outer is not None:
        if name in outer.env:
            return known(machine, outer.env, name)
        outer = outer.outer
    return BUILTINS.get(name, UNKNOWN)


def known(machine: Machine, env: dict[str, Value], name: str) -> Value:
    """A variable's value; what was imported from the project is looked up now."""
    value = env[name]
    if isinstance(value, Imported):
        value = env[name] = machine.find_imported(value)
    elif isinstance(value, Choice) and any(isinstance(option, Imported) for option in value.options):
        found = (machine.find_imported(o) if isinstance(o, Imported) else o for o in value.options)
        value = env[name] = join_all(found)
    return value


def note_name(machine: Machine, node: nodes.NodeNG, dotted: str) -> None:
    """Note what a name of a backend stands for; one of another backend than the program moves to is an event."""
    if node not in machine.named and machine.aim.is_moving and backend_of(dotted) is not machine.backend:
        machine.emit(ForeignName(node, machine.context, dotted))
    machine.named[node] = dotted


def note_unused(machine: Machine, statement: nodes.Import | nodes.ImportFrom) -> None:
    """Note that an import of another backend than the program moves to brings nothing that is used."""
    if not machine.aim.is_moving:
        return
    for dotted in (name for other in OWN_PACKAGES for name in unused_names(statement, other)):
        if backend_of(dotted) is not machine.backend:
            machine.emit(ForeignName(statement, machine.context, dotted))


def rebind(machine: Machine, target: nodes.NodeNG | None, old: Value, new: Value) -> None:
    """Let a name that holds a value hold another one."""
    if isinstance(target, nodes.Name) and machine.here.env.get(target.name) is old:
        machine.here.env[target.name] = new


def by_use(machine: Machine, node: nodes.NodeNG) -> Value:
    """What an unknown name or attribute of `self` must be, from how the code around uses it."""
    if isinstance(node, (nodes.AssignName, nodes.Name)):
        path: str | None = node.name
    else:
        path = path_of(node, receiver_of(node)) if is_member(node) else None
    if path is None:
        return UNKNOWN
    scope = (
        machine.at.frame.owner.node if path.startswith("self.") and machine.at.frame.owner else machine.at.frame.node
    )
    if scope is None:
        return UNKNOWN
    use = machine.uses(scope).get(path)
    if use is None:
        return UNKNOWN
    if use.is_holder:
        return keep_on_owner(machine, path, node, Instance(None, OPEN, certain=False))
    if not machine.assume_device:
        return UNKNOWN
    if use.is_loss:
        return machine.tensor(node, Location.DEVICE, grad=True, certain=False)
    if use.is_optimizer:
        return keep_on_owner(
            machine, path, node, Instance(None, "torch.optim.Optimizer", place=Location.DEVICE, certain=False)
        )
    if use.is_model:
        return keep_on_owner(
            machine, path, node, Instance(None, "torch.nn.Module", place=Location.DEVICE, model=True, certain=False)
        )
    return UNKNOWN


def keep_on_owner(machine: Machine, path: str, node: nodes.NodeNG, value: Instance) -> Instance:
    """The same object for an attribute of `self` wherever it is used."""
    receiver = receiver_of(node) if path.startswith("self.") else None
    owner = lookup(machine, receiver) if receiver is not None else UNKNOWN
    if isinstance(owner, Instance):
        machine.heap.put(owner.attributes, path.removeprefix("self."), value)
    return value


def resolve_use(machine: Machine, value: Value, path: str, scope: nodes.NodeNG) -> Value:
    """Decide by the use of a name or attribute what an unknown value that was moved to the device is."""
    return resolved(value, machine.uses(scope).get(path)) if is_undecided(value) else value
