"""For which backend a program is run, where it may be one for several."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from xla_lint.program.backend import ASSUMED, BACKENDS, SUCCESSORS
from xla_lint.program.backend.backend import Backend, Mode


@dataclass(frozen=True)
class Aim:
    """The backend that is there when a program runs. The branches for others are not taken then."""

    backend: Backend = ASSUMED
    besides: tuple[Backend, ...] = ()
    """The other backends that the program supports."""
    is_moving: bool = False
    """Whether what the program says of another backend is a remainder, to be replaced."""

    @cached_property
    def absent(self) -> frozenset[str]:
        """The packages of other backends: what is there for the case that they are not installed is used."""
        return frozenset(backend.name for backend in BACKENDS) - {self.backend.name}

    @cached_property
    def passed_by(self) -> frozenset[str]:
        """The texts by which programs choose another backend: `if backend == "xla":` does not hold."""
        others = {backend.device_type for backend in self.besides}
        if self.backend in SUCCESSORS:
            others.add(ASSUMED.device_type)
        return frozenset(others)

    @property
    def is_lazy(self) -> bool:
        """Whether operations are recorded until a barrier or a read."""
        return self.backend.mode is Mode.LAZY

    @property
    def is_native(self) -> bool:
        """Whether the device is one of torch itself, which need not be imported."""
        return self.backend.named_by_device
