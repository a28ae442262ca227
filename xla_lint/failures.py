"""The engine, so called that an error inside it ends the analysis of one function at most, and is told in one line."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from astroid import nodes

from xla_lint import __version__, engine
from xla_lint.program.interpreter.collector_pause import collector_paused
from xla_lint.program.machine.internal_errors import InternalError
from xla_lint.program.syntax.depth import TOO_DEEP, room_to_recurse

if TYPE_CHECKING:
    from xla_lint.engine import Settings
    from xla_lint.program.project.project import Project
    from xla_lint.program.project.scope import Domain
    from xla_lint.rules.base import Finding

PACKAGE = Path(__file__).parent


class Failure(NamedTuple):
    """A function, a statement outside functions, or a whole module that could not be analysed."""

    path: str | None
    """The file, where it is another module of the program; None for the module that is checked."""
    line: int | None
    """Where the function or statement begins; None for a whole module."""
    message: str
    """One line for the user."""


class Checked(NamedTuple):
    """What the engine found in a module, and what it failed on."""

    findings: list[Finding]
    failures: list[Failure]
    domains: frozenset[Domain]
    """What the module takes part in, so that the rules of these were applied."""
    limits: list[Failure]
    """Where the analysis reached one of its bounds, which is no error."""
    ignored: list[Finding]
    """What comments in the module leave out."""


def check(module: nodes.Module, project: Project, settings: Settings) -> Checked:
    """What `engine.examine` finds with every rule, advice included, whatever goes wrong in it."""
    try:
        with room_to_recurse(), collector_paused():
            found = engine.examine(module, project, settings)
    except Exception as error:  # noqa: BLE001 - told to the user
        found = engine.Examined([], frozenset(), [InternalError(error, module)], [], [])
    failures = (failure(fault, module) for fault in found.errors)
    limits = (Failure(None, place.node.fromlineno, place.limit.value) for place in found.given_up)
    return Checked(
        found.findings, list(dict.fromkeys(failures)), found.domains, list(dict.fromkeys(limits)), found.ignored
    )


def failure(fault: InternalError, module: nodes.Module) -> Failure:
    """A fault as the user is told of it: what, where in the code, where in xla-lint, and what to do about it."""
    root, scope = fault.node.root(), fault.node.scope()
    path = None if root is module else root.file
    line = None if fault.node is root else fault.node.fromlineno
    if isinstance(fault.error, RecursionError):
        return Failure(path, line, TOO_DEEP)
    named = f", in '{scope.name}'" if isinstance(scope, (nodes.FunctionDef, nodes.ClassDef)) else ""
    lost = "the rest of this code was not analysed" if line else "nothing of this file was analysed"
    what = f"internal error in xla-lint {__version__}{named}: {described(fault.error)}"
    return Failure(path, line, f"{what}; {lost}; please report this line together with the file")


def described(error: Exception) -> str:
    """An error's kind and text in one line, and where in xla-lint it happened."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if PACKAGE in Path(frame.filename).parents] or frames
    place = f" ({Path(inside[-1].filename).name}, line {inside[-1].lineno})" if inside else ""
    text = " ".join(str(error).split())
    return (f"{type(error).__name__}: {text}" if text else type(error).__name__) + place
