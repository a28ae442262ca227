"""`xla-lint run`: a program is run, and what it made the runtime do is reported."""

from __future__ import annotations

import functools
import importlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from xla_lint.cli.ends import say, speaking
from xla_lint.cli.formats import junit
from xla_lint.cli.usage import UsageError, need_place
from xla_lint.runtime import table
from xla_lint.runtime.gate import BROKEN, Limits, broken
from xla_lint.runtime.supervise import end_like, named, supervise

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Sequence

    from xla_lint.runtime.budget import BudgetFile
    from xla_lint.runtime.gate import Check
    from xla_lint.runtime.summary import Summary

CANNOT_WRITE = 2
"""The exit status where all was well but for a report."""


def run(options: Namespace) -> int:
    """Run what the options name, report it, and return its exit status, or 3 where that alone is well.

    3 means that a limit was broken, or that what happened could not be recorded.

    Raises:
        UsageError: nothing to run is named, or there is no place for a report.
    """
    arguments = ["-m", *options.module] if options.module else list(options.program)
    if not arguments or arguments == ["-m"]:
        raise UsageError("name a script, or a module after -m")
    if options.html or options.markdown:
        _need_reports()
    for path in filter(None, (options.json, options.html, options.markdown, options.junit)):
        need_place(Path(path))
    budgets = _budgets(options, arguments)
    limits = Limits(
        options.max_compiles,
        options.max_executions_per_step,
        options.max_reads_per_step,
        not options.fail_on_fallback,
    )
    outcome = supervise(arguments, options.warmup, listener=_Terminal())
    checks = list(limits.checks(outcome.summary))
    if budgets is not None:
        checks += [budgets.steady(outcome.summary)] if options.update else budgets.checks(outcome.summary)
    sentences = broken(checks)
    with speaking() as stream:
        table.write(outcome.summary, sentences, stream)
    written = _write_reports(options, outcome.summary, checks)
    well = not (outcome.status or sentences or outcome.summary.problems)
    if budgets is not None and options.update:
        written = _update(budgets, outcome.summary, well=well) and written
    if outcome.status:
        return end_like(outcome.status)
    return BROKEN if sentences or outcome.summary.problems else CANNOT_WRITE * (not written)


class _Terminal:
    """Says on standard error what happens while the program runs."""

    def compiled(self, sentence: str) -> None:
        """One line."""
        say(f"xla-lint run: {sentence}")

    def asked(self, summary: Summary) -> None:
        """The report, so far."""
        with speaking() as stream:
            table.write(summary, [], stream)


def _need_reports() -> None:
    """Make sure before the program runs that its reports can be written after it."""
    try:
        importlib.import_module("xla_lint.runtime.report")
    except ModuleNotFoundError as error:
        raise UsageError(f"--html and --markdown need {error.name}: pip install 'xla-lint[runtime]'") from error


def _budgets(options: Namespace, arguments: Sequence[str]) -> BudgetFile | None:
    """The file of budgets, known before the program runs to be one and to name the program."""
    if options.check is None:
        if options.update:
            raise UsageError("--update needs --check FILE: the file to write")
        return None
    need_place(options.check)
    from xla_lint.runtime.budget import BudgetError, BudgetFile  # noqa: PLC0415 - needs tomlkit

    try:
        budgets = BudgetFile(options.check)
    except BudgetError as error:
        raise UsageError(f"{options.check} {error}") from error
    if not options.update and budgets.of(named(arguments)) is None:
        raise UsageError(f"{options.check} has no budget for '{named(arguments)}'; --update writes it")
    return budgets


def _update(budgets: BudgetFile, summary: Summary, *, well: bool) -> bool:
    """True where the file of budgets holds this run now, or where the run is none to go by."""
    if not well:
        say(f"xla-lint: error: {budgets.path} is left as it is: the run did not go well")
        return True
    try:
        budgets.update(summary)
    except OSError as error:
        say(f"xla-lint: error: {budgets.path} cannot be written: {error.strerror}")
        return False
    return True


def _write_reports(options: Namespace, summary: Summary, checks: list[Check]) -> bool:
    """True where each report that is wanted could be written."""
    sentences = broken(checks)
    texts: dict[str, Callable[[], str]] = {
        "json": lambda: json.dumps({**summary.as_json(), "broken": sentences}, indent=1) + "\n",
        "junit": functools.partial(junit.of_run, summary, checks),
    }
    if options.markdown or options.html:
        from xla_lint.runtime import report  # noqa: PLC0415 - needs jinja2

        texts["markdown"] = functools.partial(report.markdown, summary, sentences)
        texts["html"] = functools.partial(report.html, summary, sentences)
    written = [_write(path, text()) for name, text in texts.items() if (path := getattr(options, name))]
    return all(written)


def _write(path: str, text: str) -> bool:
    try:
        Path(path).write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        say(f"xla-lint: error: {path} cannot be written: {error.strerror}")
        return False
    return True
