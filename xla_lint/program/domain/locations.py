"""Where tensors live, one or several, and what is computed from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xla_lint.program.domain.values import NO_ORIGINS, NO_PARTS, Location
from xla_lint.program.domain.walk import tensors_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from xla_lint.program.domain.values import Memories, Tensor, Value


def location_of(tensors: Iterable[Tensor]) -> Location:
    """Where the result of an operation on these tensors lives."""
    places = {tensor.place for tensor in tensors}
    if Location.DEVICE in places:
        return Location.DEVICE
    return Location.UNKNOWN if Location.UNKNOWN in places or not places else Location.HOST


def device_tensors(values: Iterable[Value]) -> list[Tensor]:
    """The device tensors among values and in their containers."""
    return [t for value in values for t in tensors_in(value, 2) if t.place is Location.DEVICE]


def inherited(
    tensors: Sequence[Tensor], place: Location, epochs: frozenset[int], materialised: Memories, *, grad: bool
) -> dict[str, Any]:
    """What a tensor in a place has of those that it is computed from; `grad`: where autograd is on."""
    carries = assumed = collective = False
    certain = drawn = made = True
    shared = bool(tensors)
    for tensor in tensors:
        carries = carries or tensor.grad
        certain = certain and tensor.certain
        assumed = assumed or tensor.assumed
        collective = collective or (tensor.collective and tensor.is_pending(epochs, materialised))
        shared = shared and tensor.shared
        drawn = drawn and tensor.drawn
        made = made and tensor.made is not None
    found: dict[str, Any] = {
        "grad": carries and grad,
        "certain": certain,
        "assumed": assumed,
        "collective": collective,
        "origins": NO_ORIGINS.union(o for tensor in tensors for o in tensor.origins if o.gradient),
        "shared": shared,
    }
    if place is Location.HOST:
        found["parts"] = NO_PARTS.union(*(tensor.parts for tensor in tensors))
        found["made"] = tensors[0].made if made else None
        found["drawn"] = drawn
    return found
