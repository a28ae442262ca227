"""The check of many files: what earlier runs found is used again, and the rest is shared among processes.

The outcomes are the same whatever the cache knows and however many processes there are.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from xla_lint.cli.one import check_one
from xla_lint.cli.results import Outcome, Problem
from xla_lint.program.interpreter.collector_pause import collector_paused
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import SourceError, read
from xla_lint.program.project.statements import may_take_part

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from xla_lint.cli.cache import Cache
    from xla_lint.cli.config import Choice
    from xla_lint.program.project.dependency_log import Dependencies

WORTHWHILE = 24
"""With fewer files to analyse than this, more processes cost more time than they save."""


class Checked(NamedTuple):
    """A file that was checked, or that could not be read."""

    path: str
    source: bytes
    outcome: Outcome
    reads: Dependencies
    """What the check asked of the project."""


def check_many(
    paths: Sequence[str], choice: Choice, cache: Cache, processes: int
) -> Generator[tuple[str, Outcome], None, None]:
    """Check files, and yield the path and the outcome of each as they become known, in any order.

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
            yield path, known
    for checked in _pending(pending, choice, processes):
        cache.keep(Project.around(checked.path), checked.path, checked.source, checked.outcome, checked.reads)
        yield checked.path, checked.outcome


def check_source(path: str, source: bytes, choice: Choice, cache: Cache) -> Outcome:
    """Check the bytes of one file, which need not be those at its path."""
    known = _known(path, source, choice, cache)
    if known is None:
        checked = _analysed(path, source, choice)
        cache.keep(Project.around(path), path, source, checked.outcome, checked.reads)
        known = checked.outcome
    return known


def usable_processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _pending(paths: list[str], choice: Choice, processes: int) -> Iterator[Checked]:
    if processes == 1 or len(paths) < WORTHWHILE:
        yield from (check_file(path, choice) for path in paths)
    else:
        from xla_lint.cli.processes import shared  # noqa: PLC0415 - few runs need processes

        yield from shared(paths, choice, processes)


def _known(path: str, source: bytes, choice: Choice, cache: Cache) -> Outcome | None:
    """The outcome for a file that need not be analysed, None for others."""
    project = Project.around(path)
    cache.meet(project)
    if not may_take_part(source, choice.settings.scope) and not project.membership(Path(path).absolute()).through:
        return Outcome(outside=True)
    return cache.recall(project, path, source)


def _unreadable(path: str, error: SourceError) -> Outcome:
    return Outcome(problems=[Problem(path, str(error))], read=False)


def _analysed(path: str, source: bytes, choice: Choice) -> Checked:
    project = Project.around(path)
    with project.recording() as reads, collector_paused():
        outcome = check_one(path, source, project, choice)
    return Checked(path, source, outcome, reads)


def check_file(path: str, choice: Choice) -> Checked:
    """Check one file, whatever is known of it."""
    try:
        return _analysed(path, read(path), choice)
    except SourceError as error:
        return Checked(path, b"", _unreadable(path, error), {})
