"""What is saved: where the tensors in a value live."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.objects import is_assumed, is_optimizer
from xla_lint.program.domain.values import (
    NONE,
    UNKNOWN,
    Choice,
    Instance,
    Location,
    Tensor,
    Value,
    options,
)
from xla_lint.program.domain.walk import EVERYTHING

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
    elif isinstance(value, Instance) and (value.model or is_optimizer(value)):
        assumed = is_assumed(value) and value.place is Location.DEVICE
        yield (Location.UNKNOWN if assumed else value.place), value.certain
    elif type(value) in EVERYTHING:
        for part in EVERYTHING[type(value)](value):
            yield from places(part, depth - 1)


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
