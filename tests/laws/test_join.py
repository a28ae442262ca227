"""The join of values: the same whichever path is named first, nothing new from a value and itself, never less."""

from __future__ import annotations

import inspect
from dataclasses import fields, is_dataclass

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings

from tests.laws.values import canonical, tensors, values
from xla_lint.program.domain import definitions, loaders
from xla_lint.program.domain import values as domain
from xla_lint.program.domain.fields import Role
from xla_lint.program.domain.join import MOST_OPTIONS, alike, join, join_all
from xla_lint.program.domain.values import Choice, Location, Name, Tensor, Text, Value, options

many = hypothesis_settings(max_examples=150)
TABLED = {domain.Number, Text, Tensor, domain.Sequence, domain.Mapping, domain.Stream, domain.Instance, Choice}


def value_classes() -> list[type[Value]]:
    found = {
        cls
        for module in (domain, definitions, loaders)
        for _, cls in inspect.getmembers(module, inspect.isclass)
        if issubclass(cls, Value) and is_dataclass(cls)
    }
    return sorted(found, key=lambda cls: cls.__name__)


@many
@given(values, values)
def test_the_order_of_the_paths_does_not_matter(a: Value, b: Value) -> None:
    assert canonical(join(a, b)) == canonical(join(b, a))


@many
@given(values)
def test_a_value_joined_with_itself_is_itself(a: Value) -> None:
    assert join(a, a) is a


@many
@given(values, values)
def test_what_a_join_stands_for_already_adds_nothing(a: Value, b: Value) -> None:
    joined = join(a, b)
    assert canonical(join(joined, a)) == canonical(joined)
    assert canonical(join(b, joined)) == canonical(joined)


@many
@given(values, values, values)
def test_more_on_one_side_is_never_less_of_the_whole(a: Value, b: Value, c: Value) -> None:
    """`a` stands for no more than `join(a, b)`, and so does each of them joined with `c`."""
    smaller, greater = join(a, c), join(join(a, b), c)
    assert canonical(join(smaller, greater)) == canonical(greater)


@given(tensors, tensors)
def test_tensors_in_different_places_stay_apart(a: Tensor, b: Tensor) -> None:
    assert len(options(join(a, b))) == (1 if a.place is b.place else 2)


@given(tensors)
def test_a_tensor_is_alike_one_with_other_lines_only(tensor: Tensor) -> None:
    assert alike(tensor, tensor.like(line=tensor.line + 1, roots=tensor.memory))


@pytest.mark.parametrize("name", [n for n, rule in Tensor.FIELDS.items() if not isinstance(rule, Role)])
def test_a_tensor_is_unlike_one_that_differs_in_a_field(name: str) -> None:
    tensor = Tensor(Location.DEVICE)
    differing = tensor.like(roots=tensor.memory, **{name: object()})
    assert not alike(tensor, differing)
    assert not alike(differing, tensor)


@pytest.mark.parametrize("cls", value_classes(), ids=lambda cls: cls.__name__)
def test_every_field_takes_part(cls: type[Value]) -> None:
    """In the table beside the class, or by the identity or equality of the whole."""
    table = getattr(cls, "FIELDS", None)
    assert (table is not None) == (cls in TABLED)
    if table is not None:
        assert set(table) == {field.name for field in fields(cls)}


def test_one_of_too_many_is_unknown() -> None:
    assert len(options(join_all(Name(str(number)) for number in range(MOST_OPTIONS)))) == MOST_OPTIONS
    assert join_all(Name(str(number)) for number in range(MOST_OPTIONS + 1)) is domain.UNKNOWN
