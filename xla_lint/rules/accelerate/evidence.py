"""What shows that a loop runs under an `Accelerator`, and what the `Accelerator` has prepared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import Forward, LibraryCall, LoopRun
from xla_lint.program.domain.values import Instance, options

if TYPE_CHECKING:
    from xla_lint.program.domain.contexts import Context
    from xla_lint.program.domain.events import Event
    from xla_lint.program.queries import Program

ACCELERATOR = "accelerate.Accelerator"
PREPARE = tuple(
    f"{ACCELERATOR}.{name}"
    for name in ("prepare", "prepare_model", "prepare_data_loader", "prepare_optimizer", "prepare_scheduler")
)
BESIDE = tuple(f"{ACCELERATOR}.{name}" for name in ("accumulate", "backward", "clip_grad_norm_", "clip_grad_value_"))
"""Methods that a training step of Accelerate calls."""


def accelerated(program: Program, context: Context) -> bool:
    """Whether the innermost loop around a place is one that Accelerate's own objects run in."""
    if not context.loops:
        return False
    loop = context.loops[-1]
    return (loop.loader is not None and loop.loader.prepared) or program.any_inside(loop, shows)


def shows(event: Event) -> bool:
    """Whether an event shows that an `Accelerator` is in use."""
    if isinstance(event, Forward):
        return event.prepared
    if isinstance(event, LoopRun):
        return event.loop.loader is not None and event.loop.loader.prepared
    if isinstance(event, LibraryCall):
        prepared = isinstance(event.receiver, Instance) and event.receiver.prepared and not event.receiver.model
        return event.name in BESIDE or prepared
    return False


def given_to_prepare(program: Program) -> set[Instance]:
    """The objects that `prepare` was given anywhere."""
    given = (value for call in program.calls(*PREPARE) for value in (*call.args, *call.kwargs.values()))
    return {option for value in given for option in options(value) if isinstance(option, Instance)}
