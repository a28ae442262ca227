"""`xla-lint check`: files in, findings out."""

from __future__ import annotations

import contextlib
import importlib
import sys
from typing import TYPE_CHECKING, TextIO

from xla_lint.cli.baseline import Baseline
from xla_lint.cli.cache import Cache, default_folder
from xla_lint.cli.config import Configuration
from xla_lint.cli.ends import say
from xla_lint.cli.files import find
from xla_lint.cli.many import Job, check_many, usable_processors
from xla_lint.cli.progress import counted
from xla_lint.cli.results import MOST_NAMED, Results, counted_as
from xla_lint.cli.usage import UsageError
from xla_lint.program.project.overlay import overlaid
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import absolute

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator
    from pathlib import Path

    from xla_lint.cli.config import Choice
    from xla_lint.cli.results import Located, Outcome
    from xla_lint.cli.revision import Revision

STDIN = "-"
WITH_FIXES = frozenset({"json", "sarif"})
"""The formats that carry fixes."""
OUTGROWN = (
    "{} holds more than {:,} Python files, so its files were checked one by one: no finding there rests on several "
    "files; a pyproject.toml in each project below makes them projects again"
)


def check(options: Namespace) -> int:
    """Check what the options name, report it, and return the exit status.

    Raises:
        UsageError: an option or a configuration will not do, or a file that is asked for cannot be written.
    """
    Project.forget()
    configuration = Configuration(options)
    revision = _revision(options) if options.diff_base else None
    results = Results(reasons=options.verbose)
    unsaved = _unsaved(options)
    with overlaid(unsaved):
        outcomes = _outcomes(options, configuration, results)
    for outcome in outcomes:
        results.add(outcome)
    results.notes += (OUTGROWN.format(root, most) for root, most in sorted(Project.outgrown.items()))
    chosen = {outcome.path: configuration.chosen(outcome) for outcome in outcomes}
    if options.write_baseline:
        return _accept(chosen, configuration, results)
    findings = _unaccepted(chosen, configuration, results)
    if revision is not None:
        new = revision.new(findings, options.jobs or usable_processors())
        results.known[f"there before, at {options.diff_base}"] += len(findings) - len(new)
        findings = new
    if options.sort == "cost":
        from xla_lint.cli.cost import price  # noqa: PLC0415 - few runs need prices

        findings.sort(key=lambda found: price(found[0]), reverse=True)
    results.report(findings)
    if options.format in WITH_FIXES:
        from xla_lint.cli.offering import with_fixes  # noqa: PLC0415 - only fixing needs concrete trees

        with overlaid(unsaved):
            results.findings = with_fixes(results.findings)
    report(options, results)
    return 0 if options.exit_zero and not results.problems else results.status


def _revision(options: Namespace) -> Revision:
    from xla_lint.cli.revision import Revision  # noqa: PLC0415 - few runs need git

    return Revision(options.diff_base, options.paths[0])


def _accept(chosen: dict[str, list[Located]], configuration: Configuration, results: Results) -> int:
    """Write what was found to the baselines."""
    baselines: dict[Path, dict[str, list[Located]]] = {}
    for path, findings in chosen.items():
        file = configuration.choice(path).baseline
        if file is None:
            raise UsageError("--write-baseline needs --baseline FILE, or 'baseline' in [tool.xla-lint]")
        baselines.setdefault(file, {})[path] = findings
    unchecked = {problem.path for problem in results.problems}
    for file, found in baselines.items():
        number = Baseline(file, written_anew=True).write(found, unchecked)
        say(f"{file} accepts {counted_as(number, 'finding')}")
    for problem in results.problems:
        say(f"xla-lint: {problem}")
    return results.status


def _unaccepted(
    chosen: dict[str, list[Located]], configuration: Configuration, results: Results
) -> list[tuple[Located, Choice]]:
    """The findings that no baseline accepts."""
    baselines: dict[Path, Baseline] = {}
    unaccepted: list[tuple[Located, Choice]] = []
    for path, findings in chosen.items():
        choice = configuration.choice(path)
        new = findings
        if choice.baseline is not None:
            if choice.baseline not in baselines:
                baselines[choice.baseline] = Baseline(choice.baseline, written_anew=False)
            new = baselines[choice.baseline].unknown(path, findings)
            results.known["in the baseline"] += len(findings) - len(new)
        unaccepted += ((finding, choice) for finding in new)
    for file, baseline in baselines.items():
        fixed = baseline.fixed()
        if fixed:
            named = ", ".join(fixed[:MOST_NAMED]) + (f" and {len(fixed) - MOST_NAMED} more" * (len(fixed) > MOST_NAMED))
            what = counted_as(len(fixed), "accepted finding")
            results.notes.append(f"{what} of {file} fixed: {named}; --write-baseline takes them out")
    return unaccepted


def _stdin(options: Namespace) -> str:
    """The path by which standard input goes."""
    return options.stdin_filename or "<stdin>"


def _unsaved(options: Namespace) -> dict[Path, bytes]:
    """What standard input holds, where it is checked.

    Raises:
        UsageError: it is closed, or it has a name and is not checked.
    """
    if STDIN not in options.paths:
        if options.stdin_filename:
            raise UsageError("--stdin-filename names what standard input holds, and no path is -")
        return {}
    if sys.stdin is None:
        raise UsageError("standard input is closed")
    return {absolute(_stdin(options)): sys.stdin.buffer.read()}


def _outcomes(options: Namespace, configuration: Configuration, results: Results) -> list[Outcome]:
    """What the check of each file gave, in order."""
    cache = Cache(None if options.no_cache else options.cache_dir or default_folder())
    paths = _paths(options, configuration, results)
    processes = 1 if STDIN in options.paths else options.jobs or usable_processors()
    jobs = [Job(path, configuration.choice(path).settings) for path in paths]
    checks = check_many(jobs, cache, processes)
    try:
        with contextlib.closing(checks), contextlib.closing(counted(checks, len(paths))) as steps:
            known = {outcome.path: outcome for outcome in steps}
    finally:
        cache.save()
    return [known[path] for path in paths]


def _paths(options: Namespace, configuration: Configuration, results: Results) -> list[str]:
    """The files to check; what else there is to say of the paths goes to the results."""
    found = find((path for path in options.paths if path != STDIN), configuration.excludes)
    results.notes += (f"{folder} holds no Python file and no notebook" for folder in found.empty)
    results.problems += found.problems
    paths, excluded = list(map(str, found.files)), found.excluded
    if STDIN in options.paths:
        path = _stdin(options)
        by = configuration.excludes(path)
        excluded |= {path: by} if by else {}
        paths = [path] * (not by) + [each for each in paths if absolute(each) != absolute(path)]
    named = {*options.paths, _stdin(options)}
    results.notes += (f"{path}: skipped, {by} excludes it" for path, by in excluded.items() if path in named)
    results.excluded += len(excluded)
    return paths


def report(options: Namespace, results: Results) -> None:
    """Write the findings, and to standard error what else there is to say.

    Raises:
        UsageError: the file for the findings cannot be written.
    """
    write = importlib.import_module(f"xla_lint.cli.formats.{options.format}").write
    with _output(options.output_file) as stream:
        write(results, stream)
        stream.flush()
    told = [] if options.quiet else [*results.notes, *filter(None, [results.left_out])]
    limits = results.limits if options.verbose else ()
    for line in (*told, *results.problems, *limits):
        say(f"xla-lint: {line}")
    if not options.quiet:
        say(results.summary)


@contextlib.contextmanager
def _output(path: str | None) -> Iterator[TextIO]:
    if path is None:
        yield sys.stdout
        return
    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as stream:  # noqa: PTH123 - as written
            yield stream
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {(error.strerror or str(error)).lower()}") from error
