"""For which backend a module is, as its own statements tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend import BACKENDS
from xla_lint.program.syntax.index import index_of

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.program.backend.backend import Backend

LAZY_MARKS = tuple(mark for backend in BACKENDS for mark in backend.marks) + tuple(
    quote + backend.device_type for backend in BACKENDS if backend.named_by_device for quote in "\"'"
)
"""A module whose source holds none of these takes part in no program for a backend by its own statements."""


def backend_in(module: nodes.Module) -> Backend | None:
    """The backend that a module imports, whose device it names, or whose kin it imports; None where it tells none."""
    if len(BACKENDS) == 1:
        return BACKENDS[0]
    imported = index_of(module).imported
    packages = {name.partition(".")[0] for name in imported}
    for backend in BACKENDS:
        if backend.name in packages:
            return backend
    for backend in BACKENDS:
        if names_device_of(backend, module):
            return backend
    return next((backend for backend in BACKENDS if any(map(backend.owns, imported))), None)


def names_device_of(backend: Backend, module: nodes.Module) -> bool:
    """Whether a module names a device of a backend which need not be imported."""
    return backend.named_by_device and any(
        device.partition(":")[0] == backend.device_type for device in index_of(module).devices
    )


def names_lazy_device(module: nodes.Module) -> bool:
    """Whether a module names a device of any backend which need not be imported."""
    return any(names_device_of(backend, module) for backend in BACKENDS)
