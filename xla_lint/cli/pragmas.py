"""Pragmas such as `# pylint: disable=xla-value-read`, read by pylint itself."""

from __future__ import annotations

import functools
import io
import tokenize
from typing import TYPE_CHECKING

from pylint.lint import PyLinter
from pylint.reporters import CollectingReporter
from pylint.utils import FileState

import xla_lint
from xla_lint.program.project.source import SourceError
from xla_lint.program.syntax.depth import room_to_recurse
from xla_lint.program.syntax.spelling import line_of
from xla_lint.rules import all_rules

if TYPE_CHECKING:
    from collections.abc import Iterable

    from astroid import nodes

    from xla_lint.rules.base import Finding

IGNORED = "file-ignored"
"""The message that tells that a pragma leaves out the whole file."""


def permitted(findings: Iterable[Finding], module: nodes.Module, text: str, symbols: frozenset[str]) -> list[Finding]:
    """The findings that pylint would report: pragmas decide, and where they say nothing, `symbols`.

    Raises:
        SourceError: the text cannot be split into tokens.
    """
    linter, reporter = _linter(symbols)
    reporter.reset()
    linter.set_current_module(module.name, module.file)
    linter.file_state = FileState(module.name, linter.msgs_store, module)
    try:
        with room_to_recurse():
            linter.process_tokens(list(tokenize.generate_tokens(io.StringIO(text).readline)))
    except tokenize.TokenError as error:
        message, (line, _) = error.args
        raise SourceError(f"syntax error: {message}", line) from error
    if any(message.symbol == IGNORED for message in reporter.messages):
        return []
    return [f for f in findings if linter.is_message_enabled(f.rule.code(), line_of(f.node))]


@functools.lru_cache(maxsize=1)
def _linter(symbols: frozenset[str]) -> tuple[PyLinter, CollectingReporter]:
    reporter = CollectingReporter()
    linter = PyLinter(reporter=reporter)
    xla_lint.register(linter)
    linter.enable(IGNORED)
    for rule in all_rules():
        (linter.enable if rule.symbol in symbols else linter.disable)(rule.code())
    return linter, reporter
