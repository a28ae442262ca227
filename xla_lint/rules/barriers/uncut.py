"""Which step loops have no barrier at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.loops import Cut, Form

if TYPE_CHECKING:
    from xla_lint.program.domain.loops import Loop


def uncut(loop: Loop) -> bool:
    """True for a step loop none of whose iterations passes a barrier, as far as all its calls can be followed."""
    return _without_barrier(loop) and not _part_of_a_step(loop)


def joined(loop: Loop) -> bool:
    """True for a loop without a barrier that collects the gradients of one optimizer step of the loop around.

    The number of its turns may be large, else it is no step loop.
    """
    around = loop.parent
    if around is None or around.form is not Form.LOOP or not around.is_step or not around.own_cut:
        return False
    return _without_barrier(loop) and loop.backward and loop.model and around.optimizer and not loop.optimizer


def _without_barrier(loop: Loop) -> bool:
    return (
        loop.form is Form.LOOP
        and loop.is_step
        and (loop.trains or (loop.model and loop.carries))
        and loop.cut is Cut.NEVER
        and not loop.cuts
        and not loop.wrapped
        and not loop.opaque
    )


def _part_of_a_step(loop: Loop) -> bool:
    """True inside another step loop that trains or is cut: the inner loop is then unrolled into that step."""
    return any(
        around.is_step and (around.form is not Form.LOOP or around.trains or around.changes_graphs)
        for around in loop.around()
    )
