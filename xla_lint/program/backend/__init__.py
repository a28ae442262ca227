"""How lazy devices are spelled, and what they charge: one folder a backend, and the questions that the rest asks.

Every folder of this package is a backend: its `BACKEND` is found by looking, none is registered.
"""

from __future__ import annotations

import pkgutil
from functools import lru_cache
from importlib import import_module

from xla_lint.program.backend.backend import Backend, Property, Release, Role


def _found() -> tuple[Backend, ...]:
    """The backends of all folders, in the order of their names."""
    folders = [module.name for module in pkgutil.iter_modules(__path__, __name__ + ".") if module.ispkg]
    return tuple(import_module(folder).BACKEND for folder in sorted(folders))


BACKENDS = _found()
ASSUMED = next(backend for backend in BACKENDS if backend.is_assumed)
"""The backend of programs that name none."""
SUCCESSORS = tuple(backend for backend in BACKENDS if backend.has(Property.SUCCEEDS_XLA))
"""The backends to which programs of the assumed one move."""
OWN_PACKAGES = tuple(backend.name for backend in BACKENDS)
DEVICE_TYPES = frozenset(backend.device_type for backend in BACKENDS)
_ROLES = {name: (backend, role) for backend in BACKENDS for role in Role for name in backend.names(role)}


def names(*roles: Role) -> tuple[str, ...]:
    """The dotted names that some roles have in any backend."""
    return tuple(name for backend in BACKENDS for name in backend.names(*roles))


def role_of(dotted: str) -> Role | None:
    """The role of a backend's function, by its dotted name; None for any other, and for what has no role of its own."""
    found = _ROLES.get(dotted)
    return None if found is None else found[1]


@lru_cache(maxsize=4096)
def backend_of(dotted: str) -> Backend | None:
    """The backend to which a dotted name belongs, by its role or as one of its kin."""
    if dotted in _ROLES:
        return _ROLES[dotted][0]
    return next((backend for backend in BACKENDS if backend.owns(dotted)), None)


def spelled(dotted: str) -> str:
    """A dotted name as people write it; one of no backend as it is."""
    backend = backend_of(dotted)
    return dotted if backend is None else backend.spelled(dotted)


def package_of(dotted: str) -> str | None:
    """The backend's own package to which a dotted name belongs: None for its kin, and for all others."""
    package = dotted.partition(".")[0]
    return package if package in OWN_PACKAGES else None


@lru_cache(maxsize=16)
def device_types(backend: Backend) -> frozenset[str]:
    """The types of devices on the machine of a backend.

    What a program that moves to a successor calls a device of the old backend will be one of the new.
    """
    old = {ASSUMED.device_type} if backend in SUCCESSORS else set()
    return frozenset({backend.device_type, *old})


def backend_named(name: str) -> Backend:
    """The backend of a name.

    Raises:
        KeyError: there is none.
    """
    return {backend.name: backend for backend in BACKENDS}[name]


def has_releases(dotted: str) -> bool:
    """Whether a dotted name is of the package whose releases the knowledge tables describe."""
    return package_of(dotted) == ASSUMED.name


@lru_cache(maxsize=4096)
def initialises(dotted: str, target: Release) -> bool:
    """Whether a call starts the runtime of a backend in a release."""
    return any(backend.initialises(dotted, target) for backend in BACKENDS)


def compiles_for_device(compiler: str) -> bool:
    """Whether the name of a compiler, as given to `torch.compile(backend=)`, is that of a backend."""
    return any(compiler.startswith(backend.compilers) for backend in BACKENDS)
