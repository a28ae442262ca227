"""The check of many files: what earlier runs found is used again, and the rest is shared among processes.

The outcomes are the same whatever the cache knows and however many processes there are.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from xla_lint.cli.one import check_one
from xla_lint.cli.results import Basis, Outcome, Problem
from xla_lint.program.interpreter.collector_pause import collector_paused
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import SourceError, read
from xla_lint.program.project.statements import holds_training, may_take_part

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from xla_lint.cli.cache import Cache
    from xla_lint.cli.config import Choice

WORTHWHILE = 24
"""With fewer files to analyse than this, more processes cost more time than they save."""


def check_many(paths: Sequence[str], choice: Choice, cache: Cache, processes: int) -> Generator[Outcome, None, None]:
    """Check files, and yield the outcome of each as it becomes known, in any order.

    At most so many processes work at a time.
    """
    pending: list[str] = []
    for path in paths:
        try:
            known = _known(path, read(path), choice, cache)
        except SourceError as error:
            known = _unreadable(path, error)
        if known is None:
            pending.append(path)
        else:
            yield known
    for outcome in _pending(pending, choice, processes):
        cache.take(Project.around(outcome.path), outcome)
        yield outcome


def check_source(path: str, source: bytes, choice: Choice, cache: Cache) -> Outcome:
    """Check the bytes of one file, which need not be those at its path."""
    known = _known(path, source, choice, cache)
    if known is None:
        known = _analysed(path, source, choice)
        cache.take(Project.around(path), known)
    return known


def usable_processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _pending(paths: list[str], choice: Choice, processes: int) -> Iterator[Outcome]:
    if processes == 1 or len(paths) < WORTHWHILE:
        yield from (check_file(path, choice) for path in paths)
    else:
        from xla_lint.cli.processes import shared  # noqa: PLC0415 - few runs need processes

        yield from shared(paths, choice, processes)


def _known(path: str, source: bytes, choice: Choice, cache: Cache) -> Outcome | None:
    """The outcome for a file that need not be analysed, None for others."""
    project = Project.around(path)
    cache.meet(project)
    membership = project.membership(Path(path).absolute())
    if not (may_take_part(source, choice.settings.scope) or membership.through or membership.may_be_xla):
        return Outcome(path, outside=True, trains=holds_training(source))
    return cache.recall(project, path, source)


def _unreadable(path: str, error: SourceError) -> Outcome:
    return Outcome(path, problems=[Problem(path, str(error))], read=False)


def _analysed(path: str, source: bytes, choice: Choice) -> Outcome:
    project = Project.around(path)
    with project.recording() as dependencies, collector_paused():
        outcome = check_one(path, source, project, choice)
    outcome.basis = Basis(source, dependencies)
    return outcome


def check_file(path: str, choice: Choice) -> Outcome:
    """Check one file, whatever is known of it."""
    try:
        return _analysed(path, read(path), choice)
    except SourceError as error:
        return _unreadable(path, error)
