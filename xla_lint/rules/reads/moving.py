"""What the fixes of reads do: they read later, where the barrier has computed the values."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.fixes.changes import Defer, Fix, MoveBehind, Span
from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.events import Barrier, Read
from xla_lint.program.domain.loops import Form
from xla_lint.rules.importing import importable
from xla_lint.rules.reads.listing import changed_in_place

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xla_lint.fixes.changes import Change
    from xla_lint.program.queries import Program

READ_LATER = Fix("read behind the barrier", safe=True)
REPORT_LATER = Fix("hand the values to a step closure, which reports them behind the barrier", safe=True)
REFERENCE = re.compile(r"""\w+(\.\w+|\[(\w+|'\w+'|"\w+")\])*""")
"""A variable, or a part of what it stands for: nothing is reckoned."""
REPORTS = frozenset("info debug warning error log write add_scalar add_scalars set_postfix set_description".split())
"""Methods of loggers, writers and progress bars."""
NOTES = frozenset({"update", "append", "add", "extend"})
"""Methods of meters, lists and sets."""


def reading_later(read: Read, program: Program) -> tuple[Fix, Change | None]:
    """How a read may wait for a barrier of its step; None where it stands in the way of something, or none follows."""
    statement, step = read.node.statement(), read.context.step
    barrier = _barrier_behind(statement, program)
    subjects = tuple(sorted({event.what for event in program.once(reads_by_statement)[statement]}))
    notes = barrier is None and step is not None and is_note(statement, step.node)
    if is_report(statement) or notes:
        follows = barrier is not None or (step is not None and step.wrapped)
        if not follows or read.context.closure or not program.backend.has(Role.STEP_CLOSURE):
            return REPORT_LATER, None
        register = importable(program.backend.names(Role.STEP_CLOSURE)[0], program.backend)
        until = Span.of(barrier) if barrier is not None else None
        stays = all(map(REFERENCE.fullmatch, subjects)) and not _is_changed(statement, subjects, barrier)
        return REPORT_LATER, Defer(Span.of(statement), until, register) if stays else None
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


def _is_changed(statement: nodes.NodeNG, subjects: Iterable[str], barrier: nodes.NodeNG | None) -> bool:
    """Whether what a statement tells is changed in place behind it, before a barrier gives the values."""
    last = barrier.fromlineno if barrier is not None else math.inf
    names = {re.split(r"\W", subject, maxsplit=1)[0] for subject in subjects}
    found = (node for name in names for node in changed_in_place(name, statement.scope()))
    return any(statement.tolineno < node.fromlineno < last for node in found)


def is_note(statement: nodes.NodeNG, loop: nodes.NodeNG) -> bool:
    """Whether all that a statement does is to note something in an object of its function that its loop nowhere sees.

    A meter, a list or a metric: that the value comes there a little later makes no difference.
    """
    call = statement.value if isinstance(statement, nodes.Expr) else None
    if not isinstance(call, nodes.Call) or not isinstance(call.func, nodes.Attribute):
        return False
    owner, scope = call.func.expr, statement.scope()
    if call.func.attrname not in NOTES or not isinstance(owner, nodes.Name) or owner.name not in scope.locals:
        return False
    if not isinstance(scope, nodes.FunctionDef) or owner.name in scope.argnames():
        return False
    names = (name for name in scope.nodes_of_class((nodes.Name, nodes.AssignName)) if name.name == owner.name)
    return all(name is owner or _is_out_of_sight(name, scope, loop) for name in names)


def _is_out_of_sight(name: nodes.NodeNG, scope: nodes.NodeNG, loop: nodes.NodeNG) -> bool:
    """Whether a use of a variable lets nobody see its object while a loop runs."""
    if name.scope() is not scope or loop in name.node_ancestors():
        return False
    if isinstance(name, nodes.AssignName):
        made = name.parent.value if isinstance(name.parent, (nodes.Assign, nodes.AnnAssign)) else None
        return isinstance(made, (nodes.Call, nodes.List, nodes.Dict)) and len(getattr(name.parent, "targets", "1")) == 1
    return name.fromlineno > loop.fromlineno or isinstance(name.parent, nodes.Attribute)


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
