"""What operators and comparisons of Python numbers give."""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import TYPE_CHECKING

from xla_lint.program.domain.join import element_of
from xla_lint.program.domain.values import (
    FACT,
    NO_TRAITS,
    NUMBER,
    RARE,
    UNKNOWN,
    Mapping,
    Number,
    Sequence,
    Trait,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from xla_lint.program.domain.values import Value


ARITHMETIC: dict[str, Callable[[Any, Any], int | float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "/": operator.truediv,
    "%": operator.mod,
}


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


LARGEST = 2**53


PARTS = {"%": frozenset({Trait.COUNTED}), "//": frozenset({Trait.QUOTIENT})}
"""What a part of a number is known as, where its value is not known."""
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""The comparison that says the same with its sides exchanged."""
NOW_AND_THEN = frozenset({Trait.RARE})
MOSTLY = frozenset({Trait.COMMON})
ONCE = frozenset({Trait.ONCE})


KEPT = frozenset({Trait.LONGEST, Trait.PREPARED, Trait.RANDOM, Trait.RANK, Trait.CLOCK, Trait.DATA, Trait.ITEM})
"""Traits of a number that its sums, multiples and comparisons have too."""


def arithmetic(op: str, left: Number, right: Number) -> Number:
    """The result of an operator on two numbers."""
    loops = left.loops | right.loops
    traits = (left.traits | right.traits) & KEPT
    if op == "%" and right.const == 1 and isinstance(right.const, int):
        return Number(0, traits=traits)
    if None in (left.const, right.const):
        traits |= PARTS.get(op, NO_TRAITS)
    return Number(None if loops else folded(op, left.const, right.const), loops, traits)


def folded(op: str, left: float | None, right: float | None) -> float | None:
    """The result of an operator on two constants, None where it is unknown, undefined or too large to matter."""
    if left is None or right is None or op not in ARITHMETIC or max(abs(left), abs(right)) > LARGEST:
        return None
    return ARITHMETIC[op](left, right) if right or op in ("+", "-", "*") else None


def compare_numbers(op: str, left: Number, right: Number) -> Number:
    """The result of a comparison of two numbers. No rank is negative: such a test is the same on all replicas."""
    traits = (left.traits | right.traits) & KEPT
    if any(side.const is not None and side.const < 0 for side in (left, right)):
        traits -= {Trait.RANK}
    if Trait.CLOCK in traits:
        return RARE
    counted = Trait.COUNTED in left.traits or Trait.COUNTED in right.traits
    traits |= frequency(op, left, right)
    const: bool | None = None
    if left.const is not None and right.const is not None and op in COMPARISONS:
        const = COMPARISONS[op](left.const, right.const)
        traits |= (left.traits | right.traits) & FACT
    return Number(const, left.loops | right.loops if not counted else frozenset(), traits)


def frequency(op: str, left: Number, right: Number) -> frozenset[Trait]:
    """How often a comparison holds while a counter advances; empty where nothing can be said.

    Of the remainders of two counts the greater one is the earlier one now and then only, and their quotients differ
    as seldom. A counter equals what does not advance once, and stays below a number in the first turns.
    """
    counted = [Trait.COUNTED in side.traits for side in (left, right)]
    if all(counted) and op in MIRRORED:
        return NOW_AND_THEN
    if any(counted):
        asked = op if counted[0] else MIRRORED.get(op, op)
        return MOSTLY if asked in ("!=", ">", "not in") else NOW_AND_THEN
    if left.loops and right.loops and Trait.QUOTIENT in left.traits | right.traits:
        return MOSTLY if op == "==" else NOW_AND_THEN
    if bool(left.loops) is bool(right.loops):
        return NO_TRAITS
    if op in ("==", "!="):
        return ONCE | (NOW_AND_THEN if op == "==" else MOSTLY)
    return NOW_AND_THEN if op in ("<", "<=") and left.loops and right.const is not None else NO_TRAITS


def one_of(op: str, left: Number, right: Value) -> Number:
    """Whether a number is in a container: a number that changes with a loop rarely is one of those that are listed."""
    if isinstance(right, (Sequence, Mapping)) or right is UNKNOWN:
        element = element_of(right) if isinstance(right, Sequence) else UNKNOWN
        listed = element if isinstance(element, Number) else NUMBER
        result = compare_numbers("==" if op == "in" else "!=", left, listed)
        return replace(result, const=None, traits=result.traits - ONCE)
    return Number(traits=left.traits & KEPT)
