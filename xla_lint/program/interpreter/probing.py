"""Loops that look for a name among several: `for module, name in candidates: if hasattr(module, name): return ...`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.state import Exits, meet_all
from xla_lint.program.domain.values import NONE, Instance, Name, Number, Sequence, Text, Value
from xla_lint.program.syntax.loop_bodies import asks_by_name

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.machine.machine import Machine

MOST_NAMES = 8
"""Over so many names such a loop is run name by name."""


def probe_each(machine: Machine, node: nodes.For, names: Value) -> bool:
    """Run the body of such a loop once for each name, in their order; False for any other loop."""
    items = names.items if isinstance(names, Sequence) else None
    if not items or len(items) > MOST_NAMES or not all(map(is_plain, items)) or not asks_by_name(node):
        return False
    exits = Exits()
    machine.at.frame.exits.append(exits)
    for item in items:
        machine.bind(node.target, item)
        machine.run(node.body)
        machine.at.state = meet_all([machine.at.state, *exits.continues])
        exits.continues.clear()
        if machine.at.state is None:
            break
    machine.at.frame.exits.pop()
    if machine.at.state is not None:
        machine.run(node.orelse)
    machine.at.state = meet_all([machine.at.state, *exits.breaks])
    return True


def is_plain(value: Value) -> bool:
    """Whether a value is a text, a module or None, or a tuple of such."""
    if isinstance(value, Sequence):
        return value.items is not None and all(map(is_plain, value.items))
    return value is NONE or isinstance(value, (Name, Text, Number)) or (isinstance(value, Instance) and not value.model)
