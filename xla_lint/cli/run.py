"""`xla-lint run`: a program is run, and what it made the runtime do is reported."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from xla_lint.cli.usage import UsageError
from xla_lint.runtime import table
from xla_lint.runtime.gate import BROKEN, Limits
from xla_lint.runtime.supervise import end_like, supervise

if TYPE_CHECKING:
    from argparse import Namespace

    from xla_lint.runtime.summary import Summary


def run(options: Namespace) -> int:
    """Run what the options name, report it, and return its exit status, or 3 where that alone is well.

    3 means that a limit was broken, or that what happened could not be recorded.

    Raises:
        UsageError: nothing to run is named, or a report cannot be written.
    """
    arguments = ["-m", *options.module] if options.module else list(options.program)
    if not arguments or arguments == ["-m"]:
        raise UsageError("name a script, or a module after -m")
    if options.html or options.markdown:
        _need_reports()
    limits = Limits(options.max_compiles, options.max_executions_per_step, not options.fail_on_fallback)
    outcome = supervise(arguments, options.warmup)
    broken = list(limits.broken(outcome.summary))
    table.write(outcome.summary, broken, sys.stderr)
    _write_reports(options, outcome.summary, broken)
    return end_like(outcome.status) if outcome.status else BROKEN * bool(broken or outcome.summary.problems)


def _need_reports() -> None:
    """Make sure before the program runs that its reports can be written after it."""
    try:
        importlib.import_module("xla_lint.runtime.report")
    except ModuleNotFoundError as error:
        raise UsageError(f"--html and --markdown need {error.name}: pip install 'xla-lint[runtime]'") from error


def _write_reports(options: Namespace, summary: Summary, broken: list[str]) -> None:
    if options.json:
        _write(options.json, json.dumps({**summary.as_json(), "broken": broken}, indent=1) + "\n")
    if options.markdown or options.html:
        from xla_lint.runtime import report  # noqa: PLC0415 - needs jinja2

        if options.markdown:
            _write(options.markdown, report.markdown(summary, broken))
        if options.html:
            _write(options.html, report.html(summary, broken))


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
