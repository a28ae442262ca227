"""Why a finding holds: why this is a step, why that is a tensor on the device and pending, how one comes there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import Backward, Event, Forward, LibraryCall, Read, Transfer
from xla_lint.program.domain.loops import Form
from xla_lint.program.domain.values import Instance, Location, Tensor
from xla_lint.rules.base import Link

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.loops import Loop
    from xla_lint.program.queries import Program

MOST_BARRIERS = 2
"""How many barriers of a loop are shown."""
OUTSIDE_LOOPS = {
    Form.FORWARD: "'{}' has no caller in sight, so it is run as the forward pass of every step",
    Form.HOOK: "'{}' is called by its framework in every step",
    Form.STEP: "'{}' has no caller in sight, and performs one whole training step",
}


def chain(event: Event, program: Program) -> tuple[Link, ...]:
    """The links of the evidence for what a rule found in an event, as the program comes by them; barriers last."""
    step = event.context.step
    links = [] if step is None else [Link(step.node, step_because(step))]
    for tensor in _tensors(event):
        links += _model(tensor, step, program)
        if tensor.line and tensor.home is not None:
            links.append(Link(tensor.home, _state(tensor, event), tensor.line))
    links += (
        Link(site.node, f"'{site.function}' is called here") for site in event.context.calls if site.node is not None
    )
    if step is not None:
        links += (
            Link(cut.node, f"{cut.spelled} is a barrier of this loop{' in some turns' * cut.conditional}")
            for cut in step.cuts[:MOST_BARRIERS]
            if cut.node is not event.node
        )
    return tuple(dict.fromkeys(links))


def step_because(loop: Loop) -> str:
    """Why the turns of a loop are steps."""
    if loop.form is not Form.LOOP:
        return OUTSIDE_LOOPS[loop.form].format(loop.function)
    facts = {
        "runs a backward pass": loop.backward,
        "steps an optimizer": loop.optimizer,
        "takes batches of a device loader": loop.wrapped,
        "takes batches of a loader": loop.loader is not None and not loop.wrapped,
        "calls a model on the device": loop.model,
        "passes a barrier": loop.own_cut,
        "computes on the device": loop.computes and not (loop.model or loop.backward),
    }
    told = [fact for fact, holds in facts.items() if holds] or ["works on the device"]
    return f"a step loop: each turn {' and '.join([', '.join(told[:-1]), told[-1]] if told[1:] else told)}"


def _tensors(event: Event) -> Iterator[Tensor]:
    """The device tensors that an event is about."""
    if isinstance(event, Read):
        yield event.tensor
    elif isinstance(event, Backward) and event.loss is not None:
        yield event.loss
    elif isinstance(event, Transfer) and isinstance(event.value, Tensor):
        yield event.value
    elif isinstance(event, LibraryCall):
        given = (event.receiver, *event.args, *event.kwargs.values())
        yield from [each for each in given if isinstance(each, Tensor) and each.place is Location.DEVICE][:1]


def _model(tensor: Tensor, step: Loop | None, program: Program) -> Iterator[Link]:
    """The last call of a model on the device before a tensor is computed in the same step."""
    calls = [
        event
        for event in program.of(Forward)
        if step in event.context.loops and event.place is Location.DEVICE and event.node.root() is tensor.home
    ]
    before = [event for event in calls if (event.node.lineno or 0) <= tensor.line]
    if before:
        latest = max(before, key=lambda event: int(event.node.lineno or 0))
        yield Link(latest.node, f"a model on the device{_moved(latest.model)} is called here")


def _moved(model: Instance) -> str:
    there = [move.line for move in model.moves if move.place is Location.DEVICE and move.line]
    return f" (moved on line {there[-1]})" if there else ""


def _state(tensor: Tensor, event: Event) -> str:
    if tensor.place is not Location.DEVICE:
        return "made here, on the host"
    where = "computed here, on the device" if tensor.certain else "computed here, on the device by convention"
    if not isinstance(event, Read):
        return where
    if not event.pending:
        return f"{where}; a barrier before the read has it executed"
    paths = "no path from here to the read passes" if event.on_every_path else "a path from here to the read passes no"
    return f"{where}, and pending: {paths} {'a ' * event.on_every_path}barrier"
