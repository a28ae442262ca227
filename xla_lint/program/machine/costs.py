"""Numbers that are built into a graph or set a shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import Changing, HandPadding
from xla_lint.program.domain.values import Number, Sequence, Trait, options

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.domain.values import Value
    from xla_lint.program.machine.machine import Machine


def report_padding(machine: Machine, node: nodes.NodeNG, spelled: str, value: Value) -> bool:
    """Report a size that is the greatest length of several rows."""
    numbers = [n for o in options(value) for n in (o.items or [o.element] if isinstance(o, Sequence) else [o])]
    found = any(isinstance(number, Number) and Trait.LONGEST in number.traits for number in numbers)
    if found:
        machine.emit(HandPadding(node, machine.context, spelled))
    return found


def report_changing(machine: Machine, node: nodes.NodeNG, spelled: str, value: Value, *, shape: bool) -> bool:
    """Report a number that changes from step to step and is built into the graph."""
    for option in options(value):
        numbers: list[Value] = [option]
        if isinstance(option, Sequence):
            numbers = list(option.items or [option.element])
        for number in numbers:
            if isinstance(number, Number) and number.loops:
                machine.emit(Changing(node, machine.context, spelled, number, shape))
                return True
    return False
