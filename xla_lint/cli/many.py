"""The check of many files: what earlier runs found is used again, and the rest is shared among processes.

The outcomes are the same whatever the cache knows and however many processes there are.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple, Protocol

from xla_lint.cli.one import check_one, unreadable
from xla_lint.cli.results import Basis, Outcome, Problem
from xla_lint.program.interpreter.collector_pause import collector_paused
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import SourceError, absolute, read
from xla_lint.program.project.statements import holds_training, may_take_part

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from xla_lint.cli.cache import Cache
    from xla_lint.engine import Settings

WORTHWHILE = 24
"""With fewer files to analyse than this, more processes cost more time than they save."""


class Memory(Protocol):
    """What knows outcomes of earlier checks."""

    def meet(self, project: Project, settings: Settings) -> None:
        """Tell a project what is known of its files."""

    def recall(self, project: Project, settings: Settings, path: str, source: bytes) -> Outcome | None:
        """What is known of a file with these bytes, None where it must be checked."""

    def take(self, project: Project, settings: Settings, outcome: Outcome) -> None:
        """Take the basis of an outcome away, and keep both where that may help."""


class Job(NamedTuple):
    """A file to check, and what to check for."""

    path: str
    settings: Settings


def check_many(jobs: Sequence[Job], cache: Cache, processes: int) -> Generator[Outcome, None, None]:
    """Check files, and yield the outcome of each as it becomes known, in any order.

    At most so many processes work at a time.
    """
    pending: list[Job] = []
    for job in jobs:
        try:
            with collector_paused():
                known = cache.at_rest(Project.around(job.path), job.settings, job.path)
                known = known or _known(job, read(job.path), cache)
        except SourceError as error:
            known = _unreadable(job.path, error)
        if known is None:
            pending.append(job)
        else:
            yield known
    settings = dict(pending)
    for outcome in _pending(pending, processes):
        cache.take(Project.around(outcome.path), settings[outcome.path], outcome)
        yield outcome


def check_source(job: Job, source: bytes, cache: Memory) -> Outcome:
    """Check the bytes of one file, which need not be those at its path."""
    known = _known(job, source, cache)
    if known is None:
        known = _analysed(job, source)
        cache.take(Project.around(job.path), job.settings, known)
    return known


def usable_processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _pending(jobs: list[Job], processes: int) -> Iterator[Outcome]:
    if processes == 1 or len(jobs) < WORTHWHILE:
        yield from (check_file(job) for job in jobs)
    else:
        from xla_lint.cli.processes import shared  # noqa: PLC0415 - few runs need processes

        yield from shared(jobs, processes)


def _known(job: Job, source: bytes, cache: Memory) -> Outcome | None:
    """The outcome for a file that need not be analysed, None for others."""
    project = Project.around(job.path)
    cache.meet(project, job.settings)
    known = cache.recall(project, job.settings, job.path, source)
    if known is None:
        known = _passed_by(job, source, project)
        if known is not None:
            cache.take(project, job.settings, known)
    return known


def _passed_by(job: Job, source: bytes, project: Project) -> Outcome | None:
    """The outcome for a file that takes part in nothing, None for others."""
    with project.recording() as dependencies:
        membership = project.membership(absolute(job.path))
    if may_take_part(source, job.settings.scope) or membership.through or membership.may_be_xla:
        return None
    error = unreadable(job.path, source)
    basis = Basis(source, dependencies)
    if error is not None:
        return Outcome(job.path, problems=[Problem(job.path, str(error), error.line)], basis=basis)
    return Outcome(job.path, outside=True, trains=holds_training(source), basis=basis)


def _unreadable(path: str, error: SourceError) -> Outcome:
    return Outcome(path, problems=[Problem(path, str(error))], read=False)


def _analysed(job: Job, source: bytes) -> Outcome:
    project = Project.around(job.path)
    with project.recording() as dependencies, collector_paused():
        outcome = check_one(job.path, source, project, job.settings)
    outcome.basis = Basis(source, dependencies)
    return outcome


def check_file(job: Job) -> Outcome:
    """Check one file, whatever is known of it."""
    try:
        return _analysed(job, read(job.path))
    except SourceError as error:
        return _unreadable(job.path, error)
