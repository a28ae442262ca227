"""The variables of a frame, and how two paths through it left them."""

from __future__ import annotations

from itertools import compress, islice
from operator import is_, is_not
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xla_lint.program.domain.values import Value

Environment = dict[str, "Value"]


def changes(before: Environment, after: Environment) -> tuple[list[str], list[str]]:
    """The names that both hold with another value each, and those that `after` alone holds, in its order.

    Paths begin with copies of one environment, so that the names of both nearly always stand in the same order: then
    none of them is looked up.
    """
    if len(before) <= len(after) and all(map(is_, before, after)):
        rebound = list(compress(after, map(is_not, before.values(), after.values())))
        return rebound, list(islice(after, len(before), None))
    rebound = [name for name, value in after.items() if before.get(name, value) is not value]
    return rebound, [name for name in after if name not in before]
