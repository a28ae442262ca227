"""Numbers in records: what was another one in each item when the items were made changes with the loop over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.values import Choice, Instance, Mapping, Number, Sequence, Trait
from xla_lint.program.domain.walk import DEPTH

if TYPE_CHECKING:
    from xla_lint.program.domain.loops import Loop
    from xla_lint.program.domain.values import Value
    from xla_lint.program.machine.machine import Machine


def turning(machine: Machine, item: Value, loop: Loop, depth: int = DEPTH) -> Value:
    """An item whose numbers change with the loop that takes it, where they differ between items.

    What is shared stays itself, so that what the loop's body writes into it is found there afterwards.
    """
    if isinstance(item, Number):
        return Number(None, item.loops | {loop}, item.traits) if differs_between_items(machine, item) else item
    if depth == 0:
        return item
    if isinstance(item, Choice):
        for option in item.options:
            turning(machine, option, loop, depth)
    elif isinstance(item, Sequence) and item.frozen:
        return turning_tuple(machine, item, loop, depth - 1)
    elif isinstance(item, Mapping):
        turn_each(machine, item.entries, loop, depth - 1)
    elif isinstance(item, Instance) and not item.model:
        turn_each(machine, item.attributes, loop, depth - 1)
    return item


def differs_between_items(machine: Machine, number: Number) -> bool:
    """Whether a number was counted where the items were made: in a comprehension, or in a loop that is none around."""
    return number.const is None and (Trait.ITEM in number.traits or not number.loops.issubset(machine.loops))


def turning_tuple(machine: Machine, item: Sequence, loop: Loop, depth: int) -> Sequence:
    """A tuple with what is in it."""
    parts = [item.element] if item.items is None else item.items
    changed = [turning(machine, part, loop, depth) for part in parts]
    if all(new is old for new, old in zip(changed, parts, strict=True)):
        return item
    return Sequence(None, changed[0], True) if item.items is None else Sequence(changed, item.element, True)


def turn_each(machine: Machine, slots: dict[str, Value], loop: Loop, depth: int) -> None:
    """Let the numbers that a dict or an object holds change with a loop."""
    for name, value in list(slots.items()):
        changed = turning(machine, value, loop, depth)
        if changed is not value and changed != value:
            machine.heap.put(slots, name, changed)
