"""Comprehensions and generator expressions."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.join import join_all
from xla_lint.program.domain.loops import Cut
from xla_lint.program.domain.objects import key_of, loader_of, note_loaders
from xla_lint.program.domain.values import Mapping, Sequence, Tensor
from xla_lint.program.interpreter.conditions import ask, narrow
from xla_lint.program.machine.meanings import expression

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from xla_lint.program.domain.loops import Loop
    from xla_lint.program.domain.values import Value
    from xla_lint.program.machine.machine import Machine


MOST_ITEMS = 8
"""Over so many known items a comprehension is run item by item."""
MOST_UNROLLED = 64
"""So often an expression is run in a row at most, by comprehensions inside each other."""


@expression(nodes.ListComp, nodes.SetComp, nodes.GeneratorExp)
def comprehension(machine: Machine, node: nodes.ListComp | nodes.SetComp | nodes.GeneratorExp) -> Value:
    with_items: list[Value] = []

    def element() -> None:
        with_items.append(machine.evaluate(node.elt))

    exact = run_generators(machine, node.generators, element)
    items = with_items if exact and len(with_items) > 0 else None
    return Sequence(items, join_all(with_items))


@expression(nodes.DictComp)
def dict_comprehension(machine: Machine, node: nodes.DictComp) -> Value:
    entries: dict[str, Value] = {}
    others: list[Value] = []

    def element() -> None:
        key, value = key_of(machine.evaluate(node.key)), machine.evaluate(node.value)
        if key is not None:
            entries[key] = value
        else:
            others.append(value)

    run_generators(machine, node.generators, element)
    return Mapping(entries, join_all(others) if others else None)


def run_generators(machine: Machine, generators: list[nodes.Comprehension], element: Callable[[], None]) -> bool:
    """Run a comprehension's clauses around its element; True where its elements are exactly those seen."""
    env = machine.here.env
    machine.here.env = dict(env)
    path_condition = machine.here.path_condition
    exact = False
    try:
        exact = run_clause(machine, generators, 0, element)
    finally:
        if machine.at.state is not None:
            machine.at.state.env = env
            machine.at.state.path_condition = path_condition
    return exact


def may_unroll(machine: Machine, items: list[Value]) -> bool:
    """Whether a comprehension over these items is run item by item."""
    if len(items) > MOST_ITEMS or machine.at.unrolled * len(items) > MOST_UNROLLED:
        return False
    return not any(isinstance(item, Tensor) for item in items)


def run_clause(
    machine: Machine, generators: list[nodes.Comprehension], position: int, element: Callable[[], None]
) -> bool:
    if position == len(generators):
        element()
        return True
    clause = generators[position]
    source = machine.evaluate(clause.iter)
    items = source.items if isinstance(source, Sequence) and len(generators) == 1 and not clause.ifs else None
    if items and may_unroll(machine, items):
        with machine.elsewhere(unrolled=machine.at.unrolled * len(items)):
            for item in items:
                machine.bind(clause.target, item)
                element()
        return True
    if loader_of(source) is not None:
        with turn_of(machine, clause.parent or clause, source) as loop:
            inside_clause(machine, generators, position, element, machine.iterate(source, loop, clause.iter))
        return False
    exact = inside_clause(machine, generators, position, element, machine.iterate(source, None, clause.iter))
    return exact and isinstance(source, Sequence) and source.items is not None and len(source.items) == 1


def inside_clause(
    machine: Machine, generators: list[nodes.Comprehension], position: int, element: Callable[[], None], item: Value
) -> bool:
    machine.bind(generators[position].target, item)
    for test in generators[position].ifs:
        truth = ask(machine, test)
        machine.assume(truth.if_true)
        narrow(machine, truth.narrow_true)
    return run_clause(machine, generators, position + 1, element)


@contextmanager
def turn_of(machine: Machine, comprehension: nodes.NodeNG, loader: Value) -> Iterator[Loop]:
    """Stand inside the loop that a comprehension over a loader is."""
    loop = machine.loop_of(comprehension)
    note_loaders(loop, loader)
    loop.begin_turn()
    outer, machine.here.cut = machine.here.cut, Cut.NEVER
    with machine.inside(loop):
        yield loop
    if machine.at.state is not None:
        loop.end_turn(machine.here.cut)
        machine.here.cut = max(outer, loop.cut)
