"""How the fields of a value take part: which tell two values apart, how differing ones are joined, which only explain.

Each class of values whose fields are joined says it in a table beside them. From that table follow the join of two
values, whether setting one for the other changes anything, what a remembered call is told apart by, and whether what
comes round in a loop is of another kind than before. Values without a table are told apart as a whole: objects by
identity, others by equality.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from operator import and_, attrgetter, or_
from typing import Any

Rule = Callable[[Any, Any], Any]
"""What two values of a field become that differ; commutative, associative and idempotent."""


class Role(enum.Enum):
    """What a field is for that no rule joins."""

    APART = "values that differ in it stay apart"
    INSIDE = "values held inside, which are joined in turn"
    MEMORY = "which memory it is, whether its contents are materialised, and since when"
    EXPLAINS = "says where a value comes from: taken from the newer one, and never compared"


APART, INSIDE, MEMORY, EXPLAINS = Role
EITHER: Rule = or_
BOTH: Rule = and_
UNION: Rule = or_
Table = dict[str, Role | Rule]


def agreed(otherwise: Any) -> Rule:
    """The rule of a field that is forgotten where two values do not agree."""
    return lambda _, __: otherwise


def longest(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """The rule of a record that only grows: the one that has seen more."""
    return max(a, b, key=len)


class Layout:
    """A table made ready for use: each answer is one call."""

    __slots__ = ("apart", "rules", "telling")

    def __init__(self, table: Table) -> None:
        self.rules: list[tuple[str, Rule]] = [(n, rule) for n, rule in table.items() if not isinstance(rule, Role)]
        self.apart = _getter([name for name, rule in table.items() if rule is APART])
        """What two values must share to be joined into one."""
        self.telling = _getter([name for name, rule in table.items() if rule is APART or not isinstance(rule, Role)])
        """What makes a difference to what is done with a value, besides what it holds and its memory."""

    def joined(self, a: Any, b: Any) -> dict[str, Any]:
        """The fields in which the join of two values differs from `a`."""
        changes = {}
        for name, rule in self.rules:
            mine, other = getattr(a, name), getattr(b, name)
            if mine is not other and (mine != other or type(mine) is not type(other)):
                changes[name] = rule(mine, other)
        return changes


def _getter(names: list[str]) -> Callable[[Any], Any]:
    return attrgetter(*names) if names else _nothing


def _nothing(_: Any) -> tuple[()]:
    return ()
