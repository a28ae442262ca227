"""What a test tells of a value, and what is left of the value where it holds."""

from __future__ import annotations

import enum

from xla_lint.program.domain.join import join_all
from xla_lint.program.domain.values import NO_TENSOR, NONE, Tensor, Value, options


class Being(enum.Enum):
    """What a test tells of a value."""

    NONE = "None"
    SOME = "not None"
    SCALAR = "a number or a text"
    OTHER = "no tensor"


def narrowed(value: Value, being: Being) -> Value:
    """What is left of a value of which something is known. What a model gives may be a tuple, and no tensor."""
    if being is Being.NONE:
        return NONE
    left = [option for option in options(value) if option is not NONE]
    if being is not Being.SOME:
        left = [o for o in left if not isinstance(o, Tensor) or (being is Being.OTHER and o.unstructured)]
        left = left or [NO_TENSOR]
    return join_all(left)
