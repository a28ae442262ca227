"""What the fixes of reads do: they read later, where the barrier has computed the values."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.fixes.changes import Defer, Fix, MoveBehind, Span
from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.events import Barrier, Read
from xla_lint.program.domain.loops import Form
from xla_lint.rules.importing import importable

if TYPE_CHECKING:
    from xla_lint.fixes.changes import Change
    from xla_lint.program.queries import Program

READ_LATER = Fix("read behind the barrier", safe=True)
REPORT_LATER = Fix("hand the values to a step closure, which reports them behind the barrier", safe=True)
REFERENCE = re.compile(r"""\w+(\.\w+|\[(\w+|'\w+'|"\w+")\])*""")
"""A variable, or a part of what it stands for: nothing is reckoned."""
REPORTS = frozenset("info debug warning error log write add_scalar add_scalars set_postfix set_description".split())
"""Methods of loggers, writers and progress bars."""


def reading_later(read: Read, program: Program) -> tuple[Fix, Change | None]:
    """How a read may wait for a barrier of its step; None where it stands in the way of something, or none follows."""
    statement, step = read.node.statement(), read.context.step
    barrier = _barrier_behind(statement, program)
    subjects = tuple(sorted({event.what for event in program.once(reads_by_statement)[statement]}))
    if is_report(statement):
        follows = barrier is not None or (step is not None and step.wrapped)
        if not follows or read.context.closure or not program.backend.has(Role.STEP_CLOSURE):
            return REPORT_LATER, None
        register = importable(program.backend.names(Role.STEP_CLOSURE)[0], program.backend)
        until = Span.of(barrier) if barrier is not None else None
        simple = all(map(REFERENCE.fullmatch, subjects))
        return REPORT_LATER, Defer(Span.of(statement), until, register) if simple else None
    if barrier is None or step is None or step.form not in (Form.LOOP, Form.STEP):
        return READ_LATER, None
    if step.form is Form.LOOP and step.node in statement.node_ancestors() and step.node not in barrier.node_ancestors():
        return READ_LATER, None
    if not all(map(str.isidentifier, subjects)):
        return READ_LATER, None
    return READ_LATER, MoveBehind(Span.of(statement), Span.of(barrier), subjects)


def is_report(statement: nodes.NodeNG) -> bool:
    """Whether all that a statement does is to tell something."""
    call = statement.value if isinstance(statement, nodes.Expr) else None
    if not isinstance(call, nodes.Call):
        return False
    if isinstance(call.func, nodes.Name):
        return bool(call.func.name == "print")
    return isinstance(call.func, nodes.Attribute) and call.func.attrname in REPORTS


def reads_by_statement(program: Program) -> dict[nodes.NodeNG, list[Read]]:
    """The reads of a program, by the statement in which each stands."""
    found: dict[nodes.NodeNG, list[Read]] = defaultdict(list)
    for read in program.of(Read):
        found[read.node.statement()].append(read)
    return found


def barriers_by_scope(program: Program) -> dict[nodes.NodeNG, list[nodes.NodeNG]]:
    """The statements that are a barrier and nothing else, by scope, in the order of their lines."""
    found: dict[nodes.NodeNG, list[nodes.NodeNG]] = defaultdict(list)
    for event in sorted(program.of(Barrier), key=lambda barrier: barrier.node.lineno or 0):
        barrier = event.node.statement()
        if isinstance(barrier, nodes.Expr) and barrier.value is event.node:
            found[barrier.scope()].append(barrier)
    return found


def _barrier_behind(statement: nodes.NodeNG, program: Program) -> nodes.NodeNG | None:
    """The first barrier behind a statement that is a statement of the same block, or of one around it."""
    around = (statement, *statement.node_ancestors())
    for barrier in program.once(barriers_by_scope).get(statement.scope(), ()):
        block = siblings(barrier)
        inside = [node for node in around if node in block]
        if inside and block.index(inside[0]) < block.index(barrier):
            return barrier
    return None


def siblings(statement: nodes.NodeNG) -> list[nodes.NodeNG]:
    """The statements of the block in which one stands."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(statement.parent, name, None)
        if isinstance(block, list) and statement in block:
            return block
    return []
