"""What is saved: where the tensors in a value live."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.objects import is_assumed, is_open, is_optimizer
from xla_lint.program.domain.values import (
    NONE,
    UNKNOWN,
    Choice,
    Instance,
    Location,
    Mapping,
    Sequence,
    Stream,
    Tensor,
    Value,
    options,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

DEPTH = 4


def places(value: Value | None, depth: int = DEPTH) -> Iterator[tuple[Location, bool]]:
    """The places of the tensors in a value, and whether each is sure; UNKNOWN for a part that cannot be told.

    A part that is on the device on some paths only counts as unknown, and so does a model of which no move is in sight.
    """
    if value is None or value is NONE:
        return
    if isinstance(value, Tensor):
        assumed = value.origins and all(is_assumed(origin.model) for origin in value.origins)
        yield (Location.UNKNOWN if assumed else value.place), value.certain
    elif value is UNKNOWN or depth == 0:
        yield Location.UNKNOWN, False
    elif isinstance(value, Choice):
        yield from _together(value, depth)
    elif isinstance(value, Sequence):
        for item in value.items if value.items is not None else (value.element,):
            yield from places(item, depth - 1)
    elif isinstance(value, Mapping):
        for entry in (*value.entries.values(), value.element):
            yield from places(entry, depth - 1)
    elif isinstance(value, Stream):
        yield from places(value.element, depth - 1)
    elif isinstance(value, Instance):
        if is_open(value):
            yield Location.UNKNOWN, False
        elif value.model or is_optimizer(value):
            assumed = is_assumed(value) and value.place is Location.DEVICE
            yield (Location.UNKNOWN if assumed else value.place), value.certain
        else:
            for item in value.attributes.values():
                yield from places(item, depth - 1)


def _together(value: Choice, depth: int) -> Iterator[tuple[Location, bool]]:
    found = [list(places(option, depth)) for option in options(value) if option is not NONE]
    if all(any(place is Location.DEVICE for place, _ in option) for option in found):
        for option in found:
            yield from option
    elif any(place is not Location.HOST for option in found for place, _ in option):
        yield Location.UNKNOWN, False


def place_in(value: Value | None) -> tuple[Location, bool]:
    """Where what is saved lives, and whether that is sure.

    DEVICE if a tensor surely is there, HOST if no tensor can be elsewhere, else UNKNOWN.
    """
    found = list(places(value))
    on_device = [certain for place, certain in found if place is Location.DEVICE]
    if on_device:
        return Location.DEVICE, any(on_device)
    return (Location.HOST, True) if all(place is Location.HOST for place, _ in found) else (Location.UNKNOWN, False)
