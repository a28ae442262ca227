"""For which backends a program is run, as its modules and the user tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from xla_lint.program.backend import ASSUMED, SUCCESSORS
from xla_lint.program.backend.aim import Aim
from xla_lint.program.project.backends import (
    NATIVE,
    backends_of,
    imports_own,
    is_chosen,
    is_optional,
    mentions,
    shows,
    uses_any_accelerator,
)
from xla_lint.program.project.declarations import releases_named, requirements
from xla_lint.program.syntax.index import index_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from astroid import nodes

    from xla_lint.program.backend.backend import Backend
    from xla_lint.program.project.project import Project


class Aims(NamedTuple):
    """The backends for which a program is run."""

    sure: tuple[Aim, ...] = ()
    """It is a program for these."""
    perhaps: tuple[Aim, ...] = ()
    """It is one for these if its run names their device; else it is one for `sure`."""
    told: bool = True
    """Whether its entry tells it; else the modules that take part may."""
    supports_all: bool = False
    """Whether it is one for `sure` as well where its run names the device of another."""


def aims_of(entry: nodes.Module, project: Project, chosen: Backend | None) -> Aims:
    """For which backends a program is run that begins with a module."""
    found = backends_of(entry)
    declared = declared_in(entry, project)
    if chosen is not None:
        return Aims((Aim(chosen, _without(found, chosen), is_moving=chosen in SUCCESSORS),))
    if is_of_other_maker(entry, project):
        return Aims((Aim(),))
    if declared is not None:
        found = (*(backend for backend in found if backend not in (ASSUMED, declared)), declared)
    if not found:
        maybe = tuple(backend for backend in NATIVE if mentions(backend, entry))
        return Aims((Aim(),), tuple(map(Aim, maybe)), told=False)
    if found == (ASSUMED,) and not imports_own(ASSUMED, entry):
        return Aims((Aim(),), tuple(Aim(backend) for backend in NATIVE if mentions(backend, entry)))
    if found == (ASSUMED,) and is_optional(ASSUMED, entry):
        maybe = tuple(backend for backend in NATIVE if mentions(backend, entry) and not is_chosen(backend, entry))
        return Aims((Aim(ASSUMED, maybe),), tuple(Aim(backend, (ASSUMED,)) for backend in maybe), supports_all=True)
    moving = ASSUMED not in found and imports_own(ASSUMED, entry)
    return Aims(tuple(Aim(backend, _without(found, backend), moving) for backend in found))


def is_of_other_maker(entry: nodes.Module, project: Project) -> bool:
    """Whether a program is for another maker's device of the name of a native backend's, as far as its files tell."""
    path = project.file_of(entry)
    return path is not None and project.membership(path).is_other


def aims_of_parts(modules: Iterable[nodes.Module]) -> tuple[Aim, ...]:
    """For which native backends a program is whose entry tells none, as the modules tell that take part."""
    parts = list(modules)
    if any(imports_own(ASSUMED, module) for module in parts):
        return ()
    return tuple(Aim(backend) for backend in NATIVE if any(shows(backend, module) for module in parts))


def declared_in(module: nodes.Module, project: Project) -> Backend | None:
    """The backend whose package a module imports that was another one's before the release that is declared.

    torch knows no accelerator of torch_xla's: a module that asks for one is for the native backend.
    """
    packages = {name.partition(".")[0] for name in index_of(module).imported}
    for backend in NATIVE:
        if backend.since is None or backend.since[0] not in packages or imports_own(ASSUMED, module):
            continue
        if uses_any_accelerator(module):
            return backend
        asked = [named for each in requirements(project.root, backend.since[0]) for named in releases_named(each)]
        if asked and min(asked) >= backend.since[1]:
            return backend
    return None


def _without(backends: tuple[Backend, ...], backend: Backend) -> tuple[Backend, ...]:
    return tuple(other for other in backends if other is not backend)
