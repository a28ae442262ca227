"""What was found in open files, used again where nothing that it depends on has changed."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, NamedTuple

from xla_lint.cli.cache import Cache, default_folder
from xla_lint.program.project.file_summary import digest_of
from xla_lint.program.project.trees import forget_oldest

if TYPE_CHECKING:
    from xla_lint.cli.results import Outcome
    from xla_lint.engine import Settings
    from xla_lint.program.project.dependency_log import Dependencies
    from xla_lint.program.project.project import Project

MOST_FILES = 200
"""Of how many files the last outcome is kept."""


class Known(NamedTuple):
    """An outcome, and what it depends on."""

    settings: Settings
    shape: str
    digest: str
    reads: Dependencies
    outcome: Outcome


class Memory:
    """The last outcome of each file, and what the command has left on disk: which file of a project imports which."""

    def __init__(self) -> None:
        self._known: dict[str, Known] = {}
        self._met: weakref.WeakSet[Project] = weakref.WeakSet()

    def meet(self, project: Project, settings: Settings) -> None:
        """Tell a project, once, what is known of its files."""
        if project not in self._met:
            self._met.add(project)
            Cache(default_folder()).meet(project, settings)

    def recall(self, project: Project, settings: Settings, path: str, source: bytes) -> Outcome | None:
        """What is known of a file with these bytes, None where it must be checked."""
        known = self._known.get(path)
        if known is None or known[:3] != (settings, project.shape, digest_of(source)):
            return None
        return known.outcome if project.still_answers(known.reads) else None

    def take(self, project: Project, settings: Settings, outcome: Outcome) -> None:
        """Take the basis of an outcome away, and keep both."""
        basis, outcome.basis = outcome.basis, None
        self._known.pop(outcome.path, None)
        if basis is not None:
            key = settings, project.shape, digest_of(basis.source)
            self._known[outcome.path] = Known(*key, basis.dependencies, outcome)
            forget_oldest(self._known, MOST_FILES)
