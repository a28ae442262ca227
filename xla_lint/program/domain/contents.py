"""What is saved: where the tensors in a value live."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.values import (
    NONE,
    UNKNOWN,
    Choice,
    Instance,
    Mapping,
    Place,
    Sequence,
    Stream,
    Tensor,
    Value,
    options,
)
from xla_lint.program.library.optimizers import is_assumed, is_optimizer

if TYPE_CHECKING:
    from collections.abc import Iterator

DEPTH = 4


def places(value: Value | None, depth: int = DEPTH) -> Iterator[tuple[Place, bool]]:
    """The places of the tensors in a value, and whether each is sure; UNKNOWN for a part that cannot be told.

    A part that is on the device on some paths only counts as unknown, and so does a model of which no move is in sight.
    """
    if value is None or value is NONE:
        return
    if isinstance(value, Tensor):
        assumed = value.origins and all(is_assumed(origin.model) for origin in value.origins)
        yield (Place.UNKNOWN if assumed else value.place), value.sure
    elif value is UNKNOWN or depth == 0:
        yield Place.UNKNOWN, False
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
        if value.model or is_optimizer(value):
            assumed = is_assumed(value) and value.place is Place.DEVICE
            yield (Place.UNKNOWN if assumed else value.place), value.sure
        else:
            for item in value.attributes.values():
                yield from places(item, depth - 1)


def _together(value: Choice, depth: int) -> Iterator[tuple[Place, bool]]:
    found = [list(places(option, depth)) for option in options(value) if option is not NONE]
    if all(any(place is Place.DEVICE for place, _ in option) for option in found):
        for option in found:
            yield from option
    elif any(place is not Place.HOST for option in found for place, _ in option):
        yield Place.UNKNOWN, False


def place_in(value: Value | None) -> tuple[Place, bool]:
    """Where what is saved lives, and whether that is sure.

    DEVICE if a tensor surely is there, HOST if no tensor can be elsewhere, else UNKNOWN.
    """
    found = list(places(value))
    on_device = [sure for place, sure in found if place is Place.DEVICE]
    if on_device:
        return Place.DEVICE, any(on_device)
    return (Place.HOST, True) if all(place is Place.HOST for place, _ in found) else (Place.UNKNOWN, False)
