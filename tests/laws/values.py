"""Abstract values drawn by chance, and a form in which two that mean the same are equal."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from astroid import extract_node
from hypothesis import strategies as st

from xla_lint.program.domain.definitions import Class
from xla_lint.program.domain.fields import EXPLAINS
from xla_lint.program.domain.join import join_all
from xla_lint.program.domain.values import (
    MATERIALISED,
    NO_TENSOR,
    NONE,
    UNKNOWN,
    Choice,
    Device,
    Instance,
    Kind,
    Location,
    Mapping,
    Name,
    Number,
    Part,
    Sequence,
    Stream,
    Tensor,
    Text,
    Trait,
    Value,
)

SITES = [extract_node(f"torch.cat([x, {number}])") for number in range(3)]
CLASS = Class(SITES[0], None, [], {})  # type: ignore[arg-type]
PARTS = [Part(), Part(whole=True)]
MEMORIES = [Tensor(Location.DEVICE), Tensor(Location.DEVICE, 2)]


def some(values: list[Any]) -> st.SearchStrategy[frozenset[Any]]:
    return st.frozensets(st.sampled_from(values), max_size=2)


flags = st.booleans()
numbers = st.builds(Number, st.sampled_from([None, 0, 1, True, 2.5]), traits=some(list(Trait)))
texts = st.builds(Text, st.sampled_from([None, "a", "b"]), flags, flags)
tensors = st.builds(
    Tensor,
    st.sampled_from(Location),
    st.sampled_from([MATERIALISED, 2, 3]),
    st.integers(0, 3),
    kind=st.sampled_from(Kind),
    grad=flags,
    unstructured=flags,
    certain=flags,
    length=st.sampled_from([None, 1, 2]),
    sites=some(SITES),
    clip=flags,
    drawn=flags,
    parts=some(PARTS),
    undecided=flags,
    roots=some(MEMORIES),
    collective=flags,
    shared=flags,
)
constants = st.sampled_from(
    [NONE, UNKNOWN, NO_TENSOR, Name("torch.float32"), Device(Location.HOST), Device(Location.DEVICE)]
)
leaves = st.one_of(numbers, texts, tensors, constants)


def holders(inner: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    items = st.lists(inner, max_size=2)
    return st.one_of(
        st.builds(Sequence, st.one_of(st.none(), items), inner, flags),
        st.builds(Mapping, st.dictionaries(st.sampled_from("ab"), inner, max_size=2), st.one_of(st.none(), inner)),
        st.builds(Stream, inner, counted=flags, pieces=st.lists(inner, max_size=2).map(tuple)),
        st.builds(
            Instance,
            st.just(CLASS),
            attributes=st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
            certain=flags,
            prepared=flags,
            optional=flags,
        ),
    )


plain = st.recursive(leaves, holders, max_leaves=4)
values = st.one_of(plain, st.lists(plain, min_size=2, max_size=3).map(join_all))


def canonical(value: Any) -> Any:
    """A value by what it means: without what only explains, without an order of options, each object by its content."""
    if isinstance(value, Choice):
        return "Choice", value.ranked, frozenset(map(canonical, value.options))
    if isinstance(value, Tensor):
        named = {name: getattr(value, name) for name, rule in Tensor.FIELDS.items() if rule is not EXPLAINS}
        return "Tensor", *((name, id(item) if name == "home" else item) for name, item in sorted(named.items()))
    if isinstance(value, (Sequence, Mapping, Stream, Instance)):
        return type(value).__name__, *((f.name, canonical(getattr(value, f.name))) for f in fields(value))
    if isinstance(value, Number):
        return "Number", type(value.const), value.const, value.loops, value.traits
    if isinstance(value, dict):
        return frozenset((key, canonical(item)) for key, item in value.items())
    return tuple(map(canonical, value)) if isinstance(value, (list, tuple)) else value
