"""When does a Python number make one graph after another?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.rules.base import Confidence
from xla_lint.rules.wording import NEW_SIZE, confidence, where

if TYPE_CHECKING:
    from xla_lint.program.domain.events import Changing
    from xla_lint.program.domain.loops import Loop
    from xla_lint.program.queries import Program


def compiling_loop(event: Changing, program: Program) -> Loop | None:
    """The innermost loop whose turns each execute what they meet, and with which the number changes; else None."""
    if event.context.once or (not program.aim.is_lazy and repeats(event)):
        return None
    loops = (loop for loop in reversed(event.context.loops) if loop in event.number.loops)
    return next((loop for loop in loops if executes(loop, program)), None)


def executes(loop: Loop, program: Program) -> bool:
    """Whether each turn of a loop executes what it meets: where operations start by themselves, each step does."""
    return loop.executes if program.aim.is_lazy else loop.is_step


def sure(event: Changing, loop: Loop) -> Confidence:
    """How sure it is that the number changes a graph in every turn of the loop."""
    if not loop.certain:
        return Confidence.INFERENCE
    if loop.is_trial and not event.context.every_turn:
        return Confidence.CONTROL_FLOW
    return confidence(event.context)


def wording(event: Changing, loop: Loop, program: Program) -> dict[str, str]:
    """What the messages say of a number that changes with a loop."""
    turns, again = (f"turn of the loop of line {loop.line}", "a graph") if loop.is_trial else ("step", "the step")
    cost = f"compiles {again} again" if program.aim.is_lazy else NEW_SIZE[program.mode_of(event)]
    return {"spelled": event.spelled, "turns": turns, "cost": cost, "where": where(event.context)}


def repeats(event: Changing) -> bool:
    """Whether the same numbers come in every step around: a loop inside one, or one that collects its gradients."""
    loops = event.context.loops
    changing = [place for place, loop in enumerate(loops) if loop in event.number.loops]
    around = loops[: changing[0]] if changing else ()
    collects = any(loops[place].backward and not loops[place].optimizer for place in changing)
    return collects or any(loop.is_step or loop.trains or loop.optimizer for loop in around)
