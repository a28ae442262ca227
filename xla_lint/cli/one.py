"""The check of one file: bytes in, plain data out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint import failures
from xla_lint.cli.locate import located
from xla_lint.cli.notebook import SUFFIX, Notebook, OtherLanguageError, document_in, read_notebook
from xla_lint.cli.results import Outcome, Problem
from xla_lint.program.project.scope import Domain, installed_version
from xla_lint.program.project.source import HalfTypedError, SourceError, decode, parse, refuse_null_bytes
from xla_lint.program.project.statements import holds_training

if TYPE_CHECKING:
    from astroid import nodes

    from xla_lint.engine import Settings
    from xla_lint.failures import Failure
    from xla_lint.program.project.project import Project
    from xla_lint.rules.base import Finding

NAMES = {Domain.ACCELERATE: "Accelerate", Domain.SAGEMAKER: "SageMaker"}
"""How people call the kinds of programs that have rules of their own."""


def check_one(path: str, source: bytes, project: Project, settings: Settings) -> Outcome:
    """What is found in the bytes of a file, or why they could not be checked."""
    outcome = Outcome(path)
    notebook: Notebook | None = None
    try:
        if path.endswith(SUFFIX):
            notebook = read_notebook(path, source)
            outcome.problems += notebook.problems
        text = decode(source) if notebook is None else notebook.text
        module = _parsed(project, outcome, source) if notebook is None else parse(text, path)
        if notebook is not None and settings.target is None:
            settings = settings._replace(target=installed_version(notebook.installs))
        checked = failures.check(module, project, settings)
        permitted = permitted_in(checked.findings, module, text)
    except OtherLanguageError as error:
        outcome.skipped = f"it is a notebook in {error}"
    except SourceError as error:
        outcome.problems.append(Problem(path, str(error), error.line))
    else:
        outcome.problems += (_told(failure, path, notebook) for failure in checked.failures)
        outcome.failed = bool(checked.failures)
        outcome.limits += (_told(limit, path, notebook) for limit in checked.limits)
        lines = text.split("\n")
        placed = (located(finding, path, lines, asked_for=wanted) for finding, wanted in permitted)
        outcome.findings += placed if notebook is None else map(notebook.in_cell, placed)
        outcome.outside = not checked.domains and not checked.failures
        outcome.only = "" if Domain.XLA in checked.domains else ", ".join(sorted(NAMES[d] for d in checked.domains))
        outcome.trains = Domain.XLA not in checked.domains and holds_training(text.encode())
    return outcome


def unreadable(path: str, source: bytes) -> SourceError | None:
    """Why nobody can say what the bytes of a file hold, not even whether they bear a mark; None where one can."""
    try:
        if path.endswith(SUFFIX):
            document_in(source)
        else:
            refuse_null_bytes(source)
    except OtherLanguageError:
        return None
    except SourceError as error:
        return error
    return None


def _parsed(project: Project, outcome: Outcome, source: bytes) -> nodes.Module:
    """The tree of a file's bytes; where some statements do not parse, that is a problem, and the others are checked."""
    try:
        return project.parsed(outcome.path, source)
    except HalfTypedError as error:
        rest = project.parsed(outcome.path, source, half_typed=True)
        outcome.problems.append(Problem(outcome.path, str(error), error.line))
        return rest


def _told(failure: Failure, path: str, notebook: Notebook | None) -> Problem:
    problem = Problem(failure.path or path, failure.message, failure.line)
    return problem if notebook is None or failure.path is not None else notebook.told_in_cell(problem)


def permitted_in(findings: list[Finding], module: nodes.Module, text: str) -> list[tuple[Finding, bool]]:
    """The findings that no comment in the text switches off, each with whether one switches it on."""
    if findings and "pylint:" in text:
        from xla_lint.cli.pragmas import permitted  # noqa: PLC0415 - few files need pylint

        return permitted(findings, module, text)
    return [(finding, False) for finding in findings]
