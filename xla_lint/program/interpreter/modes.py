"""In which mode the operations of a program run, as the program tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import EnvironmentSet
from xla_lint.program.syntax.imports import dotted_name
from xla_lint.program.syntax.index import index_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from astroid import nodes

    from xla_lint.program.backend.backend import Backend, Mode
    from xla_lint.program.domain.events import Event

ON = frozenset({"1", "true", "True", "on"})


def mode_of(backend: Backend, modules: Iterable[nodes.Module], events: Iterable[Event]) -> Mode:
    """The mode that a program asks for, be it by a variable of the environment or by name; else the default."""
    for event in events:
        switched = isinstance(event, EnvironmentSet) and event.value in ON and not event.late
        if switched and isinstance(event, EnvironmentSet) and event.name in backend.mode_variables:
            return backend.mode_variables[event.name]
    for module in modules:
        for name, mode in backend.mode_names.items():
            used = index_of(module).attributes.get(name.rpartition(".")[2], ())
            if any(dotted_name(attribute) == name for attribute in used):
                return mode
    return backend.mode
