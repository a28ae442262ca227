"""`xla-lint migrate`: files in, a plan of what must change out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from xla_lint import failures
from xla_lint.cli.config import Configuration
from xla_lint.cli.ends import say
from xla_lint.cli.files import find
from xla_lint.cli.notebook import SUFFIX
from xla_lint.cli.results import Problem, counted_as
from xla_lint.cli.usage import UsageError
from xla_lint.knowledge.successors import Group
from xla_lint.migration import report
from xla_lint.migration.plan import plan
from xla_lint.migration.uses import Answer, placed, uses_in
from xla_lint.program.backend import ASSUMED, backend_named
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import SourceError, decode, read
from xla_lint.rules.device.migrate import Migrate

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    from xla_lint.engine import Settings
    from xla_lint.migration.plan import Plan
    from xla_lint.migration.uses import Use
    from xla_lint.program.backend.backend import Backend

FORMATS: dict[str, Callable[[Plan], str]] = {"text": report.text, "json": report.as_json, "html": report.html}
HIDDEN = "xla-late-read"
"""The rule whose findings a barrier makes cheap on torch_xla."""
UNHIDDEN = "waits for the device in every step, which no barrier hides any more: read every N steps, or after the loop"


def migrate(options: Namespace) -> int:
    """Write what must change in the files that the options name, and return the exit status.

    Raises:
        UsageError: an option or the configuration will not do, or the plan cannot be written.
    """
    backend = backend_named(options.to)
    configuration = Configuration(options)
    found = find(options.paths, configuration.excludes)
    problems = list(found.problems)
    files = list(map(str, found.files))
    notebooks = [path for path in files if path.endswith(SUFFIX)]
    uses: list[tuple[str, list[Use]]] = []
    for path in files:
        if path not in notebooks:
            answer = _uses_or_problem(path, backend, configuration.choice(path).settings)
            if isinstance(answer, Problem):
                problems.append(answer)
            else:
                uses.append((path, answer))
    _write(FORMATS[options.format](plan(backend.project, uses)), options.output_file)
    notes = [f"{counted_as(len(notebooks), 'notebook')} left out: export them to scripts first"] if notebooks else []
    for line in (*notes, *problems):
        say(f"xla-lint: {line}")
    say(f"{counted_as(len(uses), 'file')} read")
    if any(found for _, found in uses):
        say(f"the mechanical part: xla-lint fix --select {Migrate.symbol} --xla-target {backend.name} --diff PATH")
    return 2 if problems else 0


def _uses_or_problem(path: str, backend: Backend, settings: Settings) -> list[Use] | Problem:
    try:
        return _uses_of(path, backend, settings)
    except SourceError as error:
        return Problem(path, str(error), error.line)


def _uses_of(path: str, backend: Backend, settings: Settings) -> list[Use]:
    """The uses in a file, and the reads that a barrier makes cheap today.

    Raises:
        SourceError: the file cannot be read or parsed.
    """
    source = read(path)
    if ASSUMED.device_type.encode() not in source.lower():
        return []
    project, lines = Project.around(path), decode(source).split("\n")
    module = project.parsed(path, source)
    checked = failures.check(module, project, settings._replace(backend=ASSUMED.name))
    hidden = [finding for finding in checked.findings if finding.rule.symbol == HIDDEN]
    unhidden = Answer(HIDDEN, Group.THOUGHT, UNHIDDEN)
    return [*uses_in(module, backend, lines), *(placed(finding.node, lines, unhidden) for finding in hidden)]


def _write(text: str, file: str | None) -> None:
    if file is None:
        sys.stdout.write(text)
        return
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {(error.strerror or str(error)).lower()}") from error
