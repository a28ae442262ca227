"""Which of the five read symbols a read gets: each node has one, the strongest over all its contexts."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from xla_lint.program.backend.backend import Charge, Role
from xla_lint.program.domain.contexts import Condition
from xla_lint.program.domain.events import How
from xla_lint.program.domain.loops import Form
from xla_lint.rules.base import GATHERED
from xla_lint.rules.wording import WAITS, computed, where

if TYPE_CHECKING:
    from collections.abc import Iterable

    from astroid import nodes

    from xla_lint.program.domain.events import Read
    from xla_lint.program.queries import Program

WARNING = 30
"""The level of the root logger, `logging.WARNING`. torch_xla installs a root handler when it is imported, so a
later `basicConfig(level=...)` does not lower it."""


COLLECT = "collect the results on the device, and fetch them once after the loop"
"""What is done about reads where nothing is trained: metrics and predictions are wanted in the end alone."""


class Cost(enum.IntEnum):
    """What a read costs, from nothing to most."""

    NOTHING = 0
    LATE = 1
    """The host waits for a value that the device has already."""
    PERIODIC = 2
    """Paid every few steps only."""
    FULL = 3
    """The pending graph is executed for it, every step."""


def cost_of(read: Read, program: Program) -> Cost:
    """What a read costs in its own context; what only some replicas execute is left to `xla-rank-read`.

    Where operations start as the program meets them no barrier has run what is read, and a replica that reads waits
    for no other.
    """
    if read.context.step is None or _switched_off(read):
        return Cost.NOTHING
    if program.mode in GATHERED and on_some_replicas(read):
        return Cost.NOTHING
    if read.context.once:
        return Cost.NOTHING
    if read.context.closure and not read.pending:
        return Cost.NOTHING
    if read.context.periodic:
        return Cost.PERIODIC
    return Cost.FULL if read.pending or not program.aim.is_lazy else Cost.LATE


def on_some_replicas(read: Read) -> bool:
    """Whether a read executes a graph on some replicas only."""
    return read.pending and Condition.RANK in read.context.conditions and not _switched_off(read)


def _switched_off(read: Read) -> bool:
    return read.logger is not None and read.level < (read.logger.effective_level or WARNING)


def costliest(reads: Iterable[Read], program: Program) -> dict[nodes.NodeNG, Read]:
    """The read that is reported for each node: the costliest of all that happen there, a certain one before others."""
    chosen: dict[nodes.NodeNG, Read] = {}
    for read in reads:
        if read.node not in chosen or _rank(read, program) > _rank(chosen[read.node], program):
            chosen[read.node] = read
    return chosen


def _rank(read: Read, program: Program) -> tuple[Cost, bool, bool, bool]:
    return cost_of(read, program), read.pending, read.on_every_path, read.context.every_turn


def facts(read: Read) -> dict[str, str]:
    """What the messages of all read rules say."""
    return {"spelled": read.spelled, "where": where(read.context)}


def pending_facts(read: Read, program: Program) -> dict[str, str]:
    """What the messages about pending tensors say."""
    state = "still pending" if read.on_every_path else "possibly still pending"
    charge = program.charge_of(read)
    return {
        **facts(read),
        "state": state + computed(read.tensor, read.context),
        "cost": _price(read) if charge is Charge.EXECUTES else WAITS[charge],
        "advice": _advice(read, program) if program.backend.has(Role.BARRIER) else _advice_without_barriers(read),
    }


READ_SELDOM = "keep it on the device, and read it every N steps or once an epoch"


def _price(read: Read) -> str:
    step = read.context.step
    if step is not None and step.form is Form.LOOP and not step.changes_graphs:
        return "every step executes all that was recorded since the last barrier, and waits"
    return WAITS[Charge.EXECUTES]


def _advice(read: Read, program: Program) -> str:
    step, barrier = read.context.step, program.barrier
    if read.context.closure:
        return "compute it before the barrier, and hand the result to the closure"
    if read.how is How.BRANCH:
        if step is not None and step.form in (Form.FORWARD, Form.HOOK):
            return "choose on the device with torch.where"
        return f"choose on the device with torch.where, or read it once after {barrier} and test the number"
    if step is not None and step.form is Form.HOOK:
        return READ_SELDOM
    if step is not None and step.form is Form.FORWARD:
        return f"return it, and let the caller read it after {barrier}"
    if step is not None and not step.trains:
        return COLLECT
    if not program.backend.has(Role.STEP_CLOSURE):
        return f"read it after {barrier}"
    return f"read it after {barrier}, or hand it to {program.spell(Role.STEP_CLOSURE)}"


def _advice_without_barriers(read: Read) -> str:
    step = read.context.step
    if read.how is How.BRANCH:
        return "choose on the device with torch.where"
    return COLLECT if step is not None and step.form is Form.LOOP and not step.trains else READ_SELDOM
