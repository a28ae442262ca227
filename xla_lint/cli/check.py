"""`xla-lint check`: files in, findings out."""

from __future__ import annotations

import contextlib
import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from xla_lint import failures
from xla_lint.cli.config import chosen
from xla_lint.cli.files import find
from xla_lint.cli.locate import located
from xla_lint.cli.progress import counted
from xla_lint.cli.results import Problem, Results
from xla_lint.engine import concerned
from xla_lint.program.project import Project
from xla_lint.program.source import SourceError, decode, parse, read

if TYPE_CHECKING:
    from argparse import Namespace

    from astroid import nodes

    from xla_lint.cli.config import Choice
    from xla_lint.rules.base import Finding

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
        print(f"xla-lint: {folder} holds no Python file", file=sys.stderr)
    results.problems += found.problems
    with contextlib.closing(counted(found.files)) as files:
        for path in files:
            check_file(path, choice, results)
    importlib.import_module(f"xla_lint.cli.{options.format}").write(results)
    sys.stdout.flush()
    for problem in results.problems:
        print(f"xla-lint: {problem}", file=sys.stderr)
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
    results.checked += 1
    project = Project.around(path)
    if not project.may_concern(path, source, choice.settings.scope):
        results.outside += 1
        return
    try:
        text = decode(source)
        module = parse(text, path)
        checked = failures.check(module, project, choice.settings)
        reported = _reported(checked.findings, module, source, text, choice)
    except SourceError as error:
        results.problems.append(Problem(path, str(error), error.line))
    else:
        problems = [Problem(failure.path or path, failure.message, failure.line) for failure in checked.failures]
        results.problems += (problem for problem in problems if problem not in results.problems)
        lines = text.split("\n")
        results.findings += (located(finding, path, lines) for finding in reported)
        results.outside += not checked.findings and not concerned(module, project, choice.settings)


def _reported(findings: list[Finding], module: nodes.Module, source: bytes, text: str, choice: Choice) -> list[Finding]:
    if findings and b"pylint:" in source:
        from xla_lint.cli.pragmas import permitted  # noqa: PLC0415 - few files need pylint

        return permitted(findings, module, text, choice.symbols)
    return [finding for finding in findings if finding.rule.symbol in choice.symbols]
