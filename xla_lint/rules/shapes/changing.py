"""When does a Python number make one graph after another?"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xla_lint.program.domain.events import Changing


def compiles_again(event: Changing) -> bool:
    """True where the number changes between steps that each execute a graph, and is used in more than one of them."""
    return not event.context.once and any(loop.executes and loop in event.number.loops for loop in event.context.loops)
