"""The value that stands for several, where paths meet: the same in whichever order they are named.

What a field becomes is told in the table of its class. Two bounds keep values small, and lose what lies beyond them:
containers nested more deeply than `DEEPEST` are unknown, and so is what is one of more than `MOST_OPTIONS`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from xla_lint.program.domain.fields import Layout
from xla_lint.program.domain.values import (
    NO_TENSORS,
    NONE,
    UNKNOWN,
    Choice,
    Instance,
    Mapping,
    Number,
    Sequence,
    Stream,
    Tensor,
    Text,
    Trait,
    Value,
    options,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

DEEPEST = 7
"""How deep containers are joined that are nested in each other."""
MOST_OPTIONS = 8
"""How many values a `Choice` holds, and how many tensors one may be."""

_NUMBER, _TEXT, _TENSOR, _INSTANCE = (Layout(cls.FIELDS) for cls in (Number, Text, Tensor, Instance))


def join(a: Value, b: Value, depth: int = DEEPEST) -> Value:
    """The value that stands for both."""
    if a is b:
        return a
    if depth == 0:
        return UNKNOWN
    if type(a) is not Choice and type(b) is not Choice:
        merged = _merge(a, b, depth)
        return merged if merged is not None else Choice((a, b))
    left = list(options(a))
    for option in options(b):
        _add(left, option, depth)
    joined = _of(left)
    ranked = any(isinstance(side, Choice) and side.ranked for side in (a, b))
    return _none_on_some(joined) if ranked else joined


def join_all(values: Iterable[Value]) -> Value:
    """The value that stands for all of them; UNKNOWN for none."""
    result: Value | None = None
    for value in values:
        result = value if result is None else join(result, value)
    return UNKNOWN if result is None else result


def choose(values: Iterable[Value]) -> Value:
    """A `Choice` with equals joined, or the one value that is left."""
    left: list[Value] = []
    for value in values:
        _add(left, value, DEEPEST)
    return _of(left)


def _add(left: list[Value], value: Value, depth: int) -> None:
    """Add an option to others that are apart from each other."""
    for position, other in enumerate(left):
        merged = value if value is other else _merge(other, value, depth)
        if merged is not None:
            left[position] = merged
            return
    if len(left) <= MOST_OPTIONS:
        left.append(value)


def _of(left: list[Value]) -> Value:
    if len(left) == 1:
        return left[0]
    return Choice(tuple(left)) if len(left) <= MOST_OPTIONS else UNKNOWN


def per_replica(value: Value, parts: Iterable[Value], apart: frozenset[Trait]) -> Value:
    """What stands for several values each of which other replicas may have; `value` is their join.

    A test with the traits `apart` parts the replicas. What is another value on each side of it has these traits too.
    """
    differs = isinstance(value, (Number, Text)) and value.const is None and len(set(parts)) > 1
    if isinstance(value, Number) and differs:
        return replace(value, traits=value.traits | apart)
    if Trait.RANK not in apart:
        return value
    return replace(value, ranked=True) if isinstance(value, Text) and differs else _none_on_some(value)


def _none_on_some(value: Value) -> Value:
    """A value that is None on some replicas only, where it may be None at all."""
    return Choice(value.options, ranked=True) if isinstance(value, Choice) and NONE in value.options else value


def may_alias(values: list[Value]) -> Value:
    """One of several objects that exist already: lists and dicts stay themselves, so that a change reaches them."""
    distinct = list(dict.fromkeys(values))
    if 1 < len(distinct) <= MOST_OPTIONS and all(is_mutable(value) for value in distinct):
        return Choice(tuple(distinct))
    return join_all(values)


def is_mutable(value: Value) -> bool:
    """Whether a value is a container that its holders share."""
    return isinstance(value, Mapping) or (isinstance(value, Sequence) and not value.frozen)


def element_of(sequence: Sequence) -> Value:
    """What iterating a sequence yields."""
    return join_all(sequence.items) if sequence.items else sequence.element


def alike(old: Value, new: Value) -> bool:
    """Whether one value in the other's place makes no difference to what is done with it."""
    if old is new:
        return True
    if type(old) is not type(new):
        return False
    if isinstance(old, Tensor) and isinstance(new, Tensor):
        return bool(_TENSOR.telling(old) == _TENSOR.telling(new)) and _same_memory(old, new)
    return type(old) not in _HOLDING and old == new


def _same_memory(a: Tensor, b: Tensor) -> bool:
    return a.recorded_in == b.recorded_in and (not a.recorded_in or a.memory == b.memory)


def told_apart_by(tensor: Tensor) -> tuple[Any, ...]:
    """What tells a tensor apart from others, besides its memory."""
    telling: tuple[Any, ...] = _TENSOR.telling(tensor)
    return telling


# How two values of one class become one, or None where they stay apart.


def _merge(a: Value, b: Value, depth: int) -> Value | None:
    if type(a) is not type(b):
        return None
    merge = _MERGERS.get(type(a))
    if merge is not None:
        merged: Value | None = merge(a, b, depth)
        return merged
    return a if a == b else None


def _numbers(a: Number, b: Number, _: int) -> Number:
    changes = _NUMBER.joined(a, b)
    if not changes:
        return a
    if "traits" in changes and any(one.const == 0 and Trait.LONGEST in other.traits for one, other in ((a, b), (b, a))):
        changes["traits"] |= {Trait.LONGEST}  # of no lengths at all, the greatest is 0
    return Number(changes.get("const", a.const), changes.get("loops", a.loops), changes.get("traits", a.traits))


def _texts(a: Text, b: Text, _: int) -> Text:
    changes = _TEXT.joined(a, b)
    if not changes:
        return a
    return Text(changes.get("const", a.const), changes.get("fact", a.fact), changes.get("ranked", a.ranked))


def _tensors(a: Tensor, b: Tensor, _: int) -> Tensor | None:
    if a.place is not b.place:
        return None
    newer, older = (a, b) if (a.recorded_in, a.line) > (b.recorded_in, b.line) else (b, a)
    changes = _TENSOR.joined(newer, older)
    if newer.certain is not older.certain:
        changes["assumed"] = True
    if not _same_memory(newer, older):
        memory = newer.memory | older.memory
        changes["roots"] = memory if len(memory) <= MOST_OPTIONS else NO_TENSORS
    return newer.like(**changes) if changes else newer


def _sequences(a: Sequence, b: Sequence, depth: int) -> Sequence:
    frozen = a.frozen and b.frozen
    made, grown = (a.made if a.made == b.made else None), a.grown | b.grown
    steady, longest = a.steady or b.steady, (a.longest if a.longest == b.longest else None)
    if a.items is not None and b.items is not None and len(a.items) == len(b.items):
        items = [join(x, y, depth - 1) for x, y in zip(a.items, b.items, strict=True)]
        element = _any_of(items, depth - 1) if items else join(a.element, b.element, depth - 1)
        return Sequence(items, element, frozen, made, grown, steady, longest)
    mine, other = (_any_of(side.items, depth - 1) if side.items else side.element for side in (a, b))
    element = join(mine, other, depth - 1)
    return Sequence(None, element, frozen, made, grown, steady, longest)


def _any_of(items: list[Value], depth: int) -> Value:
    """What any item of a sequence is, as deep as the sequence stands."""
    result = items[0]
    for item in items[1:]:
        result = join(result, item, depth)
    return result


def _mappings(a: Mapping, b: Mapping, depth: int) -> Mapping:
    element = _optional(a.element, b.element, depth)
    return Mapping(_entries(a.entries, b.entries, depth), element, a.factory if a.factory is b.factory else None)


def _entries(a: dict[str, Value], b: dict[str, Value], depth: int) -> dict[str, Value]:
    """Two dicts as one; what only one of them holds stays."""
    joined = dict(a)
    for key, value in b.items():
        mine = a.get(key)
        joined[key] = value if mine is None or mine is value else join(mine, value, depth - 1)
    return joined


def _optional(a: Value | None, b: Value | None, depth: int) -> Value | None:
    if a is None or b is None:
        return a if b is None else b
    return join(a, b, depth - 1)


def _streams(a: Stream, b: Stream, depth: int) -> Stream | None:
    if a.source is not b.source or len(a.pieces) != len(b.pieces):
        return None
    pieces = tuple(join(x, y, depth - 1) for x, y in zip(a.pieces, b.pieces, strict=True))
    stop = join(a.stop, b.stop, depth - 1) if a.stop is not None and b.stop is not None else None
    return Stream(join(a.element, b.element, depth - 1), a.source, a.counted and b.counted, pieces, stop)


def _instances(a: Instance, b: Instance, depth: int) -> Instance | None:
    """Objects that one place of the program made are one, if they are no part of another one."""
    if a.cls is None or depth < DEEPEST or _INSTANCE.apart(a) != _INSTANCE.apart(b):
        return None
    changes = _INSTANCE.joined(a, b)
    kept = Instance(a.cls, a.library, _entries(a.attributes, b.attributes, depth), a.place, a.model, node=a.node)
    for name in ("certain", "prepared", "optional", "moves"):
        setattr(kept, name, changes.get(name, getattr(a, name)))
    kept.around = a.around | b.around
    return kept


_MERGERS: dict[type[Value], Callable[[Any, Any, int], Value | None]] = {
    Number: _numbers,
    Text: _texts,
    Tensor: _tensors,
    Sequence: _sequences,
    Mapping: _mappings,
    Stream: _streams,
    Instance: _instances,
}
_HOLDING = frozenset({Choice, Sequence, Mapping, Stream, Instance})
"""What may hold something else than before, and is not compared as a whole."""
