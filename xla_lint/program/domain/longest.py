"""The longest row of a batch, and how long it is."""

from __future__ import annotations

from xla_lint.program.domain.values import Number, Trait, Value


class LongestRow(Value):
    """The longest row of a batch on the host, or a part of it."""

    __slots__ = ()


LONGEST_ROW = LongestRow()
LONGEST_LENGTH = Number(traits=frozenset({Trait.SHAPE, Trait.LONGEST}))
