"""Which loops are step loops, epoch loops, or part of a step: decided once, from the facts of all loops.

A loop is judged by its own work, by the barriers in it, and by the loops around and inside it. So nothing can be said
of it before the program has run to its end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xla_lint.program.domain.loops import Decision, Form, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xla_lint.program.domain.loops import Loop


@dataclass(slots=True)
class Evidence:
    """What the facts of a loop, of those around it and of those inside it come to."""

    unrolled: bool = False
    """Its turns are part of one turn of the loop around it, and of its graph."""
    trains: bool = False
    """A turn performs a training step, or part of one."""
    updates_inside: bool = False
    """A loop inside, which is not unrolled, steps an optimizer."""
    drives: bool = False
    """The work of a turn shows that it is a step, or part of one."""
    works: bool = False
    """Something is recorded on the device, in the loop or inside it."""
    steps_inside: set[Loop | None] = field(default_factory=set)
    """For each loop inside whose turns are steps by their work: the loop that takes its items, None where none does."""
    graphs_inside: bool = False
    """The turns of a loop inside are graphs of their own, and it is not run every few turns only."""
    in_step: bool = False
    """A loop around it is a step loop by its own work or barrier."""


def decide(outermost: Iterable[Loop]) -> None:
    """Decide what each loop of a program is, given those that no other loop is around.

    It takes three passes: what is unrolled shows from the outermost loops in; what a turn does, from the innermost
    ones out; whether the turns are steps, from the outermost ones in again.
    """
    loops = outermost_first(outermost)
    evidence = {loop: Evidence() for loop in loops}
    for loop in loops:
        evidence[loop].unrolled = is_unrolled(loop, evidence)
    for loop in reversed(loops):
        weigh(loop, evidence)
    for loop in loops:
        evidence[loop].in_step = is_in_step(loop, evidence)
        kind = kind_of(loop, evidence)
        loop.decision = Decision(kind, evidence[loop].trains, kind is Kind.EPOCH and is_trial(loop, evidence))


def kind_of(loop: Loop, evidence: dict[Loop, Evidence]) -> Kind:
    """What the turns of a loop are, by the first of these reasons that applies."""
    shown = evidence[loop]
    if loop.form is not Form.LOOP:
        return Kind.STEP
    if shown.unrolled:
        return Kind.UNROLLED
    if steps_by_work(loop, evidence):
        return Kind.STEP
    if loop.in_forward:
        return Kind.UNROLLED
    if holds_steps(loop, evidence):
        return Kind.EPOCH
    if loop.own_cut:
        return Kind.STEP if shown.works else Kind.OTHER
    if not loop.model:
        return Kind.OTHER
    graph_each = not shown.in_step or (loop.fetches and not loop.short)
    return Kind.STEP if loop.anchored and graph_each and not loop.over_models else Kind.UNROLLED


def is_trial(loop: Loop, evidence: dict[Loop, Evidence]) -> bool:
    """Whether each of many turns around the steps tries something out: nothing inside trains, as an epoch would."""
    return not loop.short and not any(evidence[inner].trains for inner in loop.inside())


def is_unrolled(loop: Loop, evidence: dict[Loop, Evidence]) -> bool:
    """Whether a loop passes no barrier, and its turns are part of one turn of the loop around it.

    Such a loop takes one model after the other; or it has few turns, the loop around it has a barrier of its own and
    no loop inside with another one, or is itself unrolled.
    """
    around = loop.parent
    if around is None or around.form is not Form.LOOP:
        return False
    if loop.loader is not None or loop.iterable is None or loop.is_cut:
        return False
    if loop.over_models:
        return True
    if not loop.short or evidence[around].unrolled:
        return loop.short
    return (around.own_cut or around.wrapped) and not any(beside.is_cut for beside in around.children)


def weigh(loop: Loop, evidence: dict[Loop, Evidence]) -> None:
    """Add up what a loop and those inside it do; the latter are weighed before."""
    shown = evidence[loop]
    for inner in loop.children:
        seen = evidence[inner]
        shown.updates_inside |= seen.updates_inside or (inner.optimizer and not seen.unrolled)
        shown.works |= seen.works
        shown.steps_inside |= seen.steps_inside
        if steps_by_work(inner, evidence):
            shown.steps_inside.add(inner.feeds)
        if not inner.periodic and inner.feeds is None:
            shown.graphs_inside |= seen.graphs_inside or steps_by_barrier(inner, evidence)
    shown.works |= loop.computes or loop.model
    shown.trains = trains(loop, evidence)
    shown.drives = shown.trains or loop.wrapped or takes_batches(loop)


def trains(loop: Loop, evidence: dict[Loop, Evidence]) -> bool:
    """Whether a turn performs a training step, or part of one, in a loop that is unrolled or not.

    An optimizer step beside a loop that steps an optimizer is the remainder of that loop's steps, unless another loop
    beside it collects gradients. One beside steps that collect none prepares them, or follows from them.
    """
    if loop.backward:
        return True
    if not loop.optimizer and not any(evidence[inner].unrolled and evidence[inner].trains for inner in loop.children):
        return False
    accumulates = any(inner.backward and not inner.optimizer for inner in loop.children)
    prepares = evidence[loop].steps_inside and not any(inner.backward for inner in loop.inside())
    return accumulates or not (evidence[loop].updates_inside or prepares)


def takes_batches(loop: Loop) -> bool:
    """Whether the batches of a loader are worked on; a loop that only moves them prepares the data of the steps."""
    if loop.loader is None:
        return False
    return loop.model or (loop.moved and (loop.computes or loop.opaque or loop.feeds is not None))


def steps_by_work(loop: Loop, evidence: dict[Loop, Evidence]) -> bool:
    """Whether the turns are steps by what they do, or by what is done for each item that a generator yields."""
    if evidence[loop].unrolled:
        return False
    return evidence[loop].drives or any(evidence[source].drives or runs_to_a_barrier(source) for source in loop.fed_by)


def steps_by_barrier(loop: Loop, evidence: dict[Loop, Evidence]) -> bool:
    """Whether each turn is a graph of its own: it works on the device, has a barrier, and holds no other steps."""
    shown = evidence[loop]
    return (
        loop.form is Form.LOOP
        and loop.own_cut
        and shown.works
        and not loop.in_forward
        and not holds_steps(loop, evidence)
    )


def runs_to_a_barrier(loop: Loop) -> bool:
    """Whether each turn runs a model and has a barrier of its own, as a step does whose other parts are not seen."""
    return loop.own_cut and loop.model


def holds_steps(loop: Loop, evidence: dict[Loop, Evidence]) -> bool:
    """Whether the steps are the turns of a loop inside; one that yields this loop its items is part of it.

    Beside a model that the loop itself runs to a barrier, a barrier inside is not enough: it may be an evaluation's.
    """
    shown = evidence[loop]
    return bool(shown.steps_inside - {loop}) or (shown.graphs_inside and not runs_to_a_barrier(loop))


def is_in_step(loop: Loop, evidence: dict[Loop, Evidence]) -> bool:
    """Whether a loop around is a step loop by its own work, or by a barrier of its own and none inside."""
    around = loop.parent
    if around is None:
        return False
    shown = evidence[around]
    return (
        shown.in_step
        or around.form is not Form.LOOP
        or shown.drives
        or (around.own_cut and not holds_steps(around, evidence))
    )


def outermost_first(outermost: Iterable[Loop]) -> list[Loop]:
    """All loops, each after those around it."""
    loops = list(outermost)
    for loop in loops:
        loops.extend(loop.children)
    return loops
