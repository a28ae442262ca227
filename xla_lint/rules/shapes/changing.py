"""When does a Python number make one graph after another?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.rules.base import Confidence
from xla_lint.rules.wording import confidence, where

if TYPE_CHECKING:
    from xla_lint.program.domain.events import Changing
    from xla_lint.program.domain.loops import Loop


def compiling_loop(event: Changing) -> Loop | None:
    """The innermost loop whose turns each execute a graph, and with which the number changes; None where none does."""
    if event.context.once:
        return None
    return next((loop for loop in reversed(event.context.loops) if loop.executes and loop in event.number.loops), None)


def sure(event: Changing, loop: Loop) -> Confidence:
    """How sure it is that the number changes a graph in every turn of the loop."""
    if not loop.certain:
        return Confidence.INFERENCE
    if loop.is_trial and not event.context.every_turn:
        return Confidence.CONTROL_FLOW
    return confidence(event.context)


def wording(event: Changing, loop: Loop) -> dict[str, str]:
    """What the messages say of a number that changes with a loop."""
    turns, again = (f"turn of the loop of line {loop.line}", "a graph") if loop.is_trial else ("step", "the step")
    return {"spelled": event.spelled, "turns": turns, "again": again, "where": where(event.context)}
