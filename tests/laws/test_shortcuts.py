"""What is kept, shared or skipped to save time says the same as the long way would."""

from __future__ import annotations

import gc
import textwrap

import pytest
from astroid import nodes

from xla_lint.plugin import spare_collector
from xla_lint.program.domain.contexts import Context
from xla_lint.program.domain.definitions import Class, Function
from xla_lint.program.domain.loops import Form, Loop
from xla_lint.program.domain.objects import bound_to, lineage
from xla_lint.program.domain.state import Frame
from xla_lint.program.domain.touches import Touches
from xla_lint.program.domain.values import NONE, Choice, Location, Mapping, Sequence, Tensor, Text, Value
from xla_lint.program.domain.walk import OBJECTS, found_in, tensors_in
from xla_lint.program.project.source import parse
from xla_lint.program.syntax.index import advances, forget_index, index_of
from xla_lint.program.syntax.loop_bodies import counts_of


def statement(source: str) -> nodes.NodeNG:
    """The first statement of a program."""
    return parse(textwrap.dedent(source), "train.py").body[0]


def test_bits_of_touches_stand_for_the_calls_and_meet_as_their_sets_do() -> None:
    first, second = statement("a()"), statement("b()")
    touches = Touches()
    one, two = touches.bit(first, "a"), touches.bit(second, "b")
    assert touches.bit(first, "a") == one != two
    assert touches.among(one | two) == {(first, "a"), (second, "b")}
    assert touches.among((one | two) & two) == {(second, "b")}
    assert touches.among(0) == frozenset()


def test_a_context_that_leaves_no_further_loop_stays_itself() -> None:
    loop, other = (Loop(statement("for i in x: pass"), Form.LOOP, "") for _ in range(2))
    left = Context((loop,), frozenset(), (), False, False).leaving(frozenset({loop}))
    assert left.left == {loop}
    assert left.leaving(frozenset({loop})) is left
    assert left.leaving(frozenset({other})).left == {loop, other}


def test_the_order_of_classes_is_pythons() -> None:
    node, frame = statement("class A: pass"), Frame({}, None)
    base = Class(node, frame, [], {})
    left, right = Class(node, frame, [base], {}), Class(node, frame, [base], {})
    bottom = Class(node, frame, [left, right], {})
    assert lineage(bottom) == [bottom, left, right, base]
    assert lineage(bottom) == [bottom, left, right, base]


def test_a_bound_method_is_the_function_with_its_receiver() -> None:
    function = Function(statement("def f(self): pass"), Frame({}, None), no_grad=True, getter=True)
    bound = bound_to(function, NONE)
    assert function.receiver is None
    assert bound.receiver is NONE
    assert (bound.node, bound.no_grad, bound.getter, bound.static) == (function.node, True, True, False)


TENSORS = [Tensor(Location.DEVICE), Tensor(Location.HOST)]
NESTED = Choice((Sequence([TENSORS[0], Mapping({"a": TENSORS[1]})]), Text("a"), Sequence(None, TENSORS[1])))


@pytest.mark.parametrize("depth", range(4))
@pytest.mark.parametrize("value", [*TENSORS, Text("a"), NESTED, Sequence([NESTED]), Mapping({"a": NESTED}, TENSORS[0])])
def test_tensors_are_those_that_a_walk_finds(value: Value, depth: int) -> None:
    assert list(tensors_in(value, depth)) == list(found_in(value, Tensor, OBJECTS, depth))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("n = n + 1", True),
        ("n = (1 + n) % size", True),
        ("self.n = self.n + 1", True),
        ("self.n = other.n + 1", False),
        ("self.n = n + 1", False),
        ("n = self.n + 1", False),
        ("n = m + 1", False),
    ],
)
def test_what_advances_is_computed_from_what_it_is_assigned_to(source: str, expected: bool) -> None:
    assign = statement(source)
    assert isinstance(assign, nodes.Assign)
    assert advances(assign.value, assign.targets[0]) is expected


def test_what_a_loop_counts_is_found_in_every_block_inside_it() -> None:
    loop = statement(
        """
        for x in xs:
            if x:
                a += 1
            else:
                a = 0
            try:
                self.done = self.done + 1
            except E:
                b = b + 1
            finally:
                seen["x"] += 1
            with lock:
                c = x
            match x:
                case 1:
                    d += 1
            def inner():
                e = 1
                self.calls += 1
        else:
            self.ended += 1
        """
    )
    assert isinstance(loop, nodes.For)
    counts = counts_of(loop)
    assert dict(counts.names) == {"a": True, "b": True, "c": False, "d": True}
    assert [name for _, name in counts.slots] == ["done", "x", "calls", "ended"]


def test_an_index_that_was_let_go_is_made_anew() -> None:
    module = parse("import torch", "train.py")
    first = index_of(module)
    assert index_of(module) is first
    forget_index(module)
    assert index_of(module) is not first
    assert index_of(module).imported == {"torch"}


def test_collections_pass_by_what_is_loaded_once_in_a_process() -> None:
    spare_collector()
    frozen = gc.get_freeze_count()
    assert frozen
    kept: list[list[object]] = [[]]
    spare_collector()
    assert gc.get_freeze_count() <= frozen
    assert kept
