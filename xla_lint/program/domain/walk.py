"""One walk over values: what each holds, what of a kind is inside, and the same value with what is inside changed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from xla_lint.program.domain.join import join_all
from xla_lint.program.domain.values import (
    UNKNOWN,
    Choice,
    Instance,
    Mapping,
    Sequence,
    Stream,
    Tensor,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

DEPTH = 4
"""How deep containers and objects are looked into."""
DEEPEST = 6
"""How deep containers may be nested that the program fills step by step."""

Found = TypeVar("Found", bound=Value)


def _in_sequence(value: Sequence) -> Iterable[Value]:
    return value.items if value.items is not None else (value.element,)


def _in_mapping(value: Mapping) -> Iterable[Value]:
    return value.entries.values() if value.element is None else (*value.entries.values(), value.element)


def _in_stream(value: Stream) -> Iterable[Value]:
    more = (part for part in (value.source, value.stop) if part is not None)
    return (value.element, *more, *value.pieces)


def _sources(value: Stream) -> Iterable[Value]:
    return value.pieces if value.source is None else (*value.pieces, value.source)


def _in_object(value: Instance) -> Iterable[Value]:
    return () if value.model else value.attributes.values()


def _in_instance(value: Instance) -> Iterable[Value]:
    return value.attributes.values()


def _in_choice(value: Choice) -> Iterable[Value]:
    return value.options


Inside = dict[type[Value], "Callable[[Any], Iterable[Value]]"]
"""What a walk goes into, and what each holds. A `Choice` holds what it may be, at its own depth."""

DATA: Inside = {Choice: _in_choice, Sequence: _in_sequence, Mapping: _in_mapping}
"""Containers of Python."""
OBJECTS: Inside = {**DATA, Instance: _in_object}
"""Containers, and objects that are no models, dataclasses and named tuples among them."""
ITERABLES: Inside = {**DATA, Stream: _in_stream}
"""Containers, and what is iterated without being one."""
SOURCES: Inside = {Choice: _in_choice, Stream: _sources}
"""What is iterated while something else is."""
EVERYTHING: Inside = {**DATA, Instance: _in_instance, Stream: _in_stream}
"""Containers, what is iterated, and objects, models among them."""


def walk(value: Value, into: Inside = OBJECTS, depth: int = DEPTH) -> Iterator[Value]:
    """A value and, if the walk goes into it, what it holds, to a depth of containers in each other."""
    inside = into.get(type(value))
    if inside is None:
        yield value
        return
    if type(value) is not Choice:
        yield value
        if depth == 0:
            return
        depth -= 1
    for part in inside(value):
        yield from walk(part, into, depth)


def found_in(value: Value, wanted: type[Found], into: Inside = OBJECTS, depth: int = DEPTH) -> Iterator[Found]:
    """The values of a kind that a value is or holds."""
    return (part for part in walk(value, into, depth) if isinstance(part, wanted))


def tensors_in(value: Value, depth: int = DEPTH) -> Iterable[Tensor]:
    """The tensors that a value holds, through containers and plain objects."""
    if type(value) is Tensor:
        return (value,)
    if type(value) not in OBJECTS:
        return ()
    found: list[Tensor] = []
    _gather(value, depth, found)
    return found


def _gather(value: Value, depth: int, found: list[Tensor]) -> None:
    """Add the tensors that something which may hold them does hold."""
    if type(value) is not Choice:
        if depth == 0:
            return
        depth -= 1
    for part in OBJECTS[type(value)](value):
        if isinstance(part, Tensor):
            found.append(part)
        elif type(part) in OBJECTS:
            _gather(part, depth, found)


def changed(value: Value, change: Callable[[Value], Value], into: Inside = DATA, depth: int = DEEPEST) -> Value:
    """A value with each thing in it that is no container changed; what holds nothing new stays itself."""
    kind = type(value)
    if kind not in into:
        return change(value)
    if depth == 0:
        return value

    def inner(part: Value) -> Value:
        return changed(part, change, into, depth if kind is Choice else depth - 1)

    if isinstance(value, Choice):
        choice = join_all(map(inner, value.options))
        return Choice(choice.options, value.ranked) if isinstance(choice, Choice) else choice
    if isinstance(value, Sequence):
        items = None if value.items is None else [inner(item) for item in value.items]
        return Sequence(items, inner(value.element) if items is None else join_all(items), value.frozen)
    if isinstance(value, Mapping):
        entries = {key: inner(item) for key, item in value.entries.items()}
        return Mapping(entries, None if value.element is None else inner(value.element), value.factory)
    if isinstance(value, Stream):
        source, stop = (None if part is None else inner(part) for part in (value.source, value.stop))
        return Stream(inner(value.element), source, value.counted, tuple(map(inner, value.pieces)), stop)
    if isinstance(value, Instance) and not value.model:
        attributes = {name: inner(item) for name, item in value.attributes.items()}
        same = all(attributes[name] is item for name, item in value.attributes.items())
        return value if same else replace(value, attributes=attributes)
    return value


def nesting(value: Value, deepest: int = DEEPEST) -> int:
    """How many containers stand in each other in a value, at most `deepest`."""
    if type(value) not in DATA or deepest == 0:
        return 0
    below = deepest if type(value) is Choice else deepest - 1
    inside = max((nesting(part, below) for part in DATA[type(value)](value)), default=0)
    return inside + (type(value) is not Choice)


def bounded(value: Value, owner: Value) -> Value:
    """What a container keeps of a value: UNKNOWN where it would hold itself, or be nested too deep."""
    return UNKNOWN if _holds(value, owner, DEEPEST) else value


def _holds(value: Value, owner: Value, depth: int) -> bool:
    inside = DATA.get(type(value))
    if inside is None:
        return False
    if value is owner or depth == 0:
        return True
    return any(_holds(part, owner, depth if type(value) is Choice else depth - 1) for part in inside(value))
