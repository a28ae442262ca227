"""The longest row of a batch, as Python finds it: by `max`, by sorting, or by comparing one row after the other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from xla_lint.program.domain.join import element_of
from xla_lint.program.domain.locations import device_tensors
from xla_lint.program.domain.longest import LONGEST_LENGTH, LONGEST_ROW, LongestRow
from xla_lint.program.domain.values import (
    SHAPE,
    UNKNOWN,
    Number,
    Sequence,
    Trait,
    Value,
)
from xla_lint.program.library.registry import methods
from xla_lint.program.machine.arguments import Arguments

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xla_lint.program.machine.machine import Machine

FIRST, LAST = 0, -1


@methods(LongestRow)
def row_method(machine: Machine, receiver: LongestRow, name: str, arguments: Arguments) -> Value | None:
    """The sizes of the longest row; nothing is known of what else it is asked for."""
    if name != "size":
        return UNKNOWN
    return size_of_longest(arguments.get(0, "dim"))


@methods(type(UNKNOWN), "size")
def size_of_unknown(machine: Machine, receiver: Value, name: str, arguments: Arguments) -> Value | None:
    """What has a size in a dimension is an array of some kind, whose sizes are known without running anything."""
    return SHAPE if isinstance(arguments.get(0), Number) else None


def size_of_longest(dimension: Value | None) -> Value:
    """How long the longest row is in a dimension: only the first is what rows are compared by."""
    if dimension is None:
        return Sequence(None, SHAPE, True)
    first = isinstance(dimension, Number) and dimension.const == 0
    return LONGEST_LENGTH if first else SHAPE


def is_a_length(value: Value) -> bool:
    """Whether a number is how long one of several rows is, or how many there are of something."""
    return isinstance(value, Number) and value.const is None and Trait.SHAPE in value.traits


def greatest(value: Value) -> Value:
    """The greatest of several numbers, if they are lengths."""
    if isinstance(value, Number) and is_a_length(value):
        return replace(value, traits=value.traits | {Trait.LONGEST})
    return value


def compares_lengths(machine: Machine, rows: Value, key: Value | None, arguments: Arguments) -> bool:
    """Whether rows of the host are put in order by their lengths, again and again, as those of each batch are."""
    if not (machine.loops or machine.at.callback) or device_tensors([rows]):
        return False
    row = machine.iterate(rows, None, arguments.node)
    if key is None:
        return is_a_length(row)
    compared = machine.call(key, Arguments(arguments.node, [row]))
    if isinstance(compared, Number) and compared.const is not None:
        return False
    return machine.call(key, Arguments(arguments.node, [LONGEST_ROW])) == LONGEST_LENGTH


def keeps_for_each_batch(machine: Machine, kept: Iterable[Value]) -> bool:
    """Whether the greatest of some lengths, which a loop over rows keeps, is found again and again."""
    return (machine.at.callback or len(machine.loops) > 1) and any(map(is_a_length, kept))


def place_of_longest(machine: Machine, rows: Value, arguments: Arguments) -> int | None:
    """Where the longest row stands once rows are sorted; None where that is not known."""
    reverse = arguments.keywords.get("reverse", Number(False))
    if not isinstance(reverse, Number) or reverse.const is None:
        return None
    if not compares_lengths(machine, rows, arguments.keywords.get("key"), arguments):
        return None
    return FIRST if reverse.const else LAST


def longest_of(rows: Sequence) -> Value:
    """What stands at the place of the longest row."""
    element = element_of(rows)
    return greatest(element) if isinstance(element, Number) else LONGEST_ROW
