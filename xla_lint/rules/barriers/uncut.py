"""Which step loops have no barrier at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.loops import Cut, Form

if TYPE_CHECKING:
    from xla_lint.program.domain.loops import Loop


def uncut(loop: Loop) -> bool:
    """True for a step loop none of whose iterations passes a barrier, as far as all its calls can be followed."""
    return (
        loop.form is Form.LOOP
        and loop.is_step
        and (loop.trains or (loop.model and loop.carries))
        and loop.cut is Cut.NEVER
        and not loop.cuts
        and not loop.wrapped
        and not loop.opaque
        and not _part_of_a_step(loop)
    )


def _part_of_a_step(loop: Loop) -> bool:
    """True inside another step loop that trains or is cut: the inner loop is then unrolled into that step."""
    return any(
        around.is_step and (around.form is not Form.LOOP or around.trains or around.changes_graphs)
        for around in loop.around()
    )
