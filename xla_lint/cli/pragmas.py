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
    from collections.abc import Callable, Iterable

    from astroid import nodes

    from xla_lint.rules.base import Finding

IGNORED = "file-ignored"
"""The message that tells that a pragma leaves out the whole file."""


def permitted(findings: Iterable[Finding], module: nodes.Module, text: str) -> list[tuple[Finding, bool]]:
    """The findings that no pragma switches off, each with whether one switches it on.

    Raises:
        SourceError: the text cannot be split into tokens.
    """
    try:
        with room_to_recurse():
            tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except tokenize.TokenError as error:
        message, (line, _) = error.args
        raise SourceError(f"syntax error: {message}", line) from error
    with_all, with_none = (_reader(enabled).reads(tokens, module) for enabled in (True, False))
    return [(f, with_none(f)) for f in findings if with_all(f)]


class _Reader:
    """pylint's own reading of pragmas, where without them every rule is enabled, or none."""

    def __init__(self, enabled: bool) -> None:
        self._reporter = CollectingReporter()
        self._linter = PyLinter(reporter=self._reporter)
        xla_lint.register(self._linter)
        self._linter.enable(IGNORED)
        for rule in all_rules():
            (self._linter.enable if enabled else self._linter.disable)(rule.code())

    def reads(self, tokens: list[tokenize.TokenInfo], module: nodes.Module) -> Callable[[Finding], bool]:
        """Tell of each finding of a module whether it is enabled."""
        linter = self._linter
        self._reporter.reset()
        linter.set_current_module(module.name, module.file)
        linter.file_state = FileState(module.name, linter.msgs_store, module)
        linter.process_tokens(tokens)
        ignored = any(message.symbol == IGNORED for message in self._reporter.messages)
        return lambda finding: not ignored and linter.is_message_enabled(finding.rule.code(), line_of(finding.node))


@functools.cache
def _reader(enabled: bool) -> _Reader:
    return _Reader(enabled)
