"""The heap: what a path did is undone exactly, and paths come together in whichever order they are named."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.laws.values import CLASS, canonical, leaves
from xla_lint.program.domain.heap import Heap
from xla_lint.program.domain.values import Instance, Location, Mapping, Sequence, Value

many = hypothesis_settings(max_examples=60)
keys = st.sampled_from("abc")
puts = st.tuples(st.integers(0, 1), keys, leaves)
moves = st.tuples(st.integers(0, 1), st.just("place"), st.sampled_from(Location))
lists = st.tuples(st.just(3), st.just("items"), st.one_of(st.none(), st.lists(leaves, max_size=2)))
steps = st.lists(st.one_of(puts, moves, lists, st.tuples(st.just(2), keys, leaves)), max_size=6)


def objects() -> list[Any]:
    return [Instance(CLASS), Instance(CLASS, model=True), Mapping({}), Sequence([])]


def change(heap: Heap, owners: list[Any], todo: list[tuple[int, str, Any]]) -> None:
    for number, key, value in todo:
        owner = owners[number]
        if isinstance(owner, Mapping):
            heap.put(owner.entries, key, value)
        elif isinstance(value, Value):
            heap.put(owner.attributes, key, value)
        else:
            heap.assign(owner, key, value)


def contents(owners: list[Any]) -> list[Any]:
    """What each holds, by identity."""
    first, second, mapping, sequence = owners
    held = [list(owner.items()) for owner in (first.attributes, second.attributes, mapping.entries)]
    return [*held, first.place, second.place, sequence.items, sequence.element]


def meant(owners: list[Any]) -> list[Any]:
    return [canonical(owner) for owner in owners]


@many
@given(steps, steps)
def test_what_a_path_did_is_undone_exactly(before: list[Any], after: list[Any]) -> None:
    heap, owners = Heap(), objects()
    change(heap, owners, before)
    held, version, mark = contents(owners), heap.version, heap.mark()
    change(heap, owners, after)
    heap.take_back(mark)
    assert contents(owners) == held
    assert (heap.version, heap.mark()) == (version, mark)


@many
@given(steps, steps, steps)
def test_the_order_of_the_paths_does_not_matter(before: list[Any], one: list[Any], other: list[Any]) -> None:
    heap, owners = Heap(), objects()
    change(heap, owners, before)
    mark = heap.mark()
    paths = []
    for path in (one, other):
        change(heap, owners, path)
        paths.append(heap.take_back(mark))
    heap.merge(*paths)
    merged = meant(owners)
    heap.take_back(mark)
    heap.merge(*reversed(paths))
    assert meant(owners) == merged


@many
@given(steps, steps)
def test_a_path_alone_is_what_it_did(before: list[Any], after: list[Any]) -> None:
    heap, owners = Heap(), objects()
    change(heap, owners, before)
    mark = heap.mark()
    change(heap, owners, after)
    held = contents(owners)
    heap.merge(heap.take_back(mark))
    assert contents(owners) == held


@given(steps, leaves)
def test_contents_that_differ_have_versions_that_differ(todo: list[Any], value: Value) -> None:
    """Also where the first contents were taken back before the second were made."""
    heap, owners = Heap(), objects()
    change(heap, owners, todo)
    mark, version = heap.mark(), heap.version
    heap.put(owners[0].attributes, "new", value)
    first = heap.version
    heap.take_back(mark)
    heap.put(owners[0].attributes, "newer", value)
    assert len({version, first, heap.version}) == 3
