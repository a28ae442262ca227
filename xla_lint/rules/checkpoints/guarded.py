"""Where only some replicas go: the test that decides it, and the call that stands under the test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.backend import names, spelled
from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.contexts import Condition
from xla_lint.program.queries import branches_around, calls_in_other_branches, last_name

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from xla_lint.program.domain.contexts import Constraint, Context
    from xla_lint.program.domain.events import Event

OWN_SAVES = frozenset(map(spelled, names(Role.SAVE)))
"""How events spell the backends' own ways to save: all replicas run what is pending for them (torch_xla 2.9.0)."""
WHY = {
    Condition.RANK: "a test that differs between replicas",
    Condition.DATA: "a test on a value that each replica computes for itself",
}


def dividing(context: Context, *, by_data: bool = True, replicated: bool = False) -> Constraint | None:
    """The condition that holds on some replicas and not on others.

    It is the outermost test on the rank: what differs between the replicas that pass it is no matter of the others. Of
    tests on values it is the innermost. A value read from the device divides replicas only where several run;
    `replicated` says so of the whole program.
    """
    several = by_data and (replicated or context.replicated)
    ranks = [c for c in context.path_condition if c.condition is Condition.RANK]
    if ranks:
        return min(ranks, key=lambda constraint: constraint.calls)
    data = [c for c in context.path_condition if several and c.condition is Condition.DATA]
    return max(data, key=lambda constraint: constraint.calls, default=None)


def anchor(event: Event, constraint: Constraint) -> nodes.NodeNG:
    """The call under the test from which an event is reached; the event's own node where it stands there itself."""
    stack = event.context.stack
    outer = stack[constraint.calls].node if len(stack) > constraint.calls else None
    return outer if outer is not None else event.node


def paired(node: nodes.NodeNG, others: Iterable[nodes.NodeNG], partings: Container[nodes.NodeNG]) -> bool:
    """Whether the replicas that do not come to a collective come to its twin under the opposite test.

    `if not master: xm.rendezvous(tag)` and, later, `if master: xm.rendezvous(tag)` let the master go first. `others`
    are the calls of the collective in the same function. Twins say the same, or are the two branches of one `if`, whose
    test is among the `partings`, the tests that part the replicas.
    """
    if _called_in_both_branches(node, partings):
        return True
    return any(_twins(node, other, partings) for other in others if other is not node)


def _called_in_both_branches(node: nodes.NodeNG, partings: Container[nodes.NodeNG]) -> bool:
    if not isinstance(node, nodes.Call):
        return False
    called = node.func.as_string()
    return any(call.func.as_string() == called for call in calls_in_other_branches(node, partings))


def _parted(node: nodes.NodeNG, partings: Container[nodes.NodeNG]) -> dict[nodes.If, bool]:
    return {choice: when for choice, when in branches_around(node).items() if choice.test in partings}


def _twins(one: nodes.NodeNG, other: nodes.NodeNG, partings: Container[nodes.NodeNG]) -> bool:
    mine = _parted(one, partings)
    yours = _parted(other, partings) if mine else {}
    if any(choice in yours and yours[choice] is not when for choice, when in mine.items()):
        return True
    if _called(one) != _called(other) or one.as_string() != other.as_string():
        return False
    texts = {choice.test.as_string(): when for choice, when in mine.items()}
    return not any(texts.get(choice.test.as_string()) is when for choice, when in yours.items())


def _called(node: nodes.NodeNG) -> str | None:
    """The last name of what a node calls, which tells most calls apart without writing them out."""
    return last_name(node.func) if isinstance(node, nodes.Call) else None
