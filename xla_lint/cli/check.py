"""`xla-lint check`: files in, findings out."""

from __future__ import annotations

import contextlib
import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from xla_lint.cli.config import chosen
from xla_lint.cli.files import find
from xla_lint.cli.one import check_one
from xla_lint.cli.progress import counted
from xla_lint.cli.results import Outcome, Problem, Results
from xla_lint.program.project import Project
from xla_lint.program.source import SourceError, read

if TYPE_CHECKING:
    from argparse import Namespace

    from xla_lint.cli.config import Choice

STDIN = "-"


def check(options: Namespace) -> int:
    """Check what the options name, report it, and return the exit status.

    Raises:
        UsageError: an option or the configuration will not do.
    """
    choice = chosen(options, Path.cwd())
    results = Results()
    if STDIN in options.paths:
        source = sys.stdin.buffer.read()
        check_source(options.stdin_filename or "<stdin>", source, choice, results)
    found = find(path for path in options.paths if path != STDIN)
    for folder in found.empty:
        results.notes.append(f"{folder} holds no Python file and no notebook")
    results.problems += found.problems
    with contextlib.closing(counted(found.files)) as files:
        for path in files:
            check_file(path, choice, results)
    importlib.import_module(f"xla_lint.cli.{options.format}").write(results)
    sys.stdout.flush()
    for line in (*results.notes, *results.problems):
        print(f"xla-lint: {line}", file=sys.stderr)
    print(results.summary, file=sys.stderr)
    return results.status


def check_file(path: Path, choice: Choice, results: Results) -> None:
    """Check one file and add what was found, or why it could not be checked."""
    try:
        source = read(path)
    except SourceError as error:
        results.problems.append(Problem(str(path), str(error)))
    else:
        check_source(str(path), source, choice, results)


def check_source(path: str, source: bytes, choice: Choice, results: Results) -> None:
    """Check the bytes of one file and add what was found, or why they could not be checked."""
    project = Project.around(path)
    concerns = project.may_concern(path, source, choice.settings.scope)
    results.add(path, check_one(path, source, project, choice) if concerns else Outcome(outside=True))
