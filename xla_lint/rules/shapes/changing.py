"""When does a Python number make one graph after another?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import Condition

if TYPE_CHECKING:
    from xla_lint.program.domain.events import Changing


def compiles_again(event: Changing) -> bool:
    """True where the number changes between steps that each execute a graph, and is used in more than one of them."""
    if Condition.ONCE in event.context.conditions:
        return False
    return any(loop.executes and loop in event.number.loops for loop in event.context.loops)
