"""Where tensors live, one or several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.values import Location
from xla_lint.program.domain.walk import tensors_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xla_lint.program.domain.values import Tensor, Value


def location_of(tensors: Iterable[Tensor]) -> Location:
    """Where the result of an operation on these tensors lives."""
    places = {tensor.place for tensor in tensors}
    if Location.DEVICE in places:
        return Location.DEVICE
    return Location.UNKNOWN if Location.UNKNOWN in places or not places else Location.HOST


def device_tensors(values: Iterable[Value]) -> list[Tensor]:
    """The device tensors among values and in their containers."""
    return [t for value in values for t in tensors_in(value, 2) if t.place is Location.DEVICE]
