"""Running totals that keep their history, and tensors that grow from turn to turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.events import Growing, History
from xla_lint.program.domain.heap import current
from xla_lint.program.domain.join import join_all
from xla_lint.program.domain.locations import device_tensors
from xla_lint.program.domain.values import UNKNOWN, Choice, Location, Number, Tensor, Value, options
from xla_lint.program.domain.walk import tensors_in
from xla_lint.program.machine.growth import Total
from xla_lint.program.syntax.index import is_same_reference
from xla_lint.program.syntax.spelling import source_of

if TYPE_CHECKING:
    from xla_lint.program.domain.loops import Loop
    from xla_lint.program.machine.machine import Machine


def as_total(machine: Machine, node: nodes.Assign, value: Value) -> Value:
    """See `total = total + loss` as the running total that it is."""
    target, expression = node.targets[0], node.value
    if not isinstance(expression, nodes.BinOp) or expression.op not in ("+", "-") or len(node.targets) != 1:
        return value
    sides = (expression.left, expression.right)
    own = next((side for side in sides if is_same_reference(side, target)), None)
    if own is None or not device_tensors([value]):
        return value
    other = sides[1] if own is sides[0] else sides[0]
    return with_history(machine, node, target, machine.quietly(own), machine.quietly(other), value)


def with_history(
    machine: Machine, node: nodes.NodeNG, target: nodes.NodeNG, left: Value, right: Value, value: Value
) -> Value:
    """A value that is added up from turn to turn, with the place where that happens, where it keeps its history."""
    if not machine.loops or not machine.here.grad or not any(tensor.grad for tensor in device_tensors([right])):
        return value
    if isinstance(value, Tensor) and value.place is not Location.UNKNOWN:
        machine.growth.totals[node] = Total(target, machine.loops, machine.context)
        confirm(machine, node, left, value)
        return value.like(sites=value.sites | {node}, grad=True)
    if isinstance(left, Choice) or isinstance(value, Choice):
        return join_all(with_history(machine, node, target, UNKNOWN, right, option) for option in options(value))
    return value


def confirm(machine: Machine, site: nodes.NodeNG, left: Value, value: Value) -> None:
    """Note the loops from whose earlier turn a running total comes: a total that starts anew is none."""
    growth = machine.growth
    earlier = growth.turns.get(site)
    if earlier is not None and any(site in t.sites for side in (left, value) for t in tensors_in(side)):
        changed = next((loop for loop in machine.loops if earlier.get(loop) != loop.turn), None)
        if changed is not None:
            growth.confirmed.add((site, changed))
    growth.turns[site] = {loop: loop.turn for loop in machine.loops}


def stored_since(machine: Machine, mark: int) -> list[tuple[Value, Value]]:
    """The values of shared objects that were set since `mark`: what stood there before, and what stands there.

    What a container holds under keys that are not known is the join of all; there only what was added counts.
    """
    pairs: list[tuple[Value, Value]] = []
    for owner, key, old in machine.heap.since(mark):
        new = current(owner, key)
        if isinstance(old, Value) and isinstance(new, Value) and new is not old:
            added = [o for o in options(new) if o not in options(old)] if key == "element" else []
            pairs.append((old, join_all(added) if added else new))
    return pairs


def look_for_growth(machine: Machine, loop: Loop, pairs: list[tuple[Value, Value]]) -> None:
    """Find what comes round again with a concatenation or a running total of this turn in it.

    `pairs` are the values before and after the turn of what it changed.
    """
    for old, new in pairs:
        olds = list(tensors_in(old))
        for tensor in tensors_in(new):
            for site in tensor.sites:
                if site in machine.growth.concatenations:
                    concatenation = machine.growth.concatenations[site]
                    if any(operand in olds for operand in concatenation.operands):
                        machine.emit(Growing(site, concatenation.context, concatenation.what, loop))
                elif site in machine.growth.totals:
                    report_total(machine, site, loop, old, new)


def report_total(machine: Machine, site: nodes.NodeNG, loop: Loop, old: Value, new: Value) -> None:
    """Report a total that comes round with the history of an earlier turn in it."""
    growth, total = machine.growth, machine.growth.totals[site]
    restarts = isinstance(new, Choice) and any(not isinstance(o, Tensor) for o in new.options)
    confirmed = loop in total.loops and (site, loop) in growth.confirmed
    if confirmed and isinstance(old, (Tensor, Number, Choice)) and not restarts and site not in growth.spent:
        machine.emit(History(site, total.context, source_of(total.target), loop))
