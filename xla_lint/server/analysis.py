"""What the worker does: it keeps up with what the editor holds, and checks the open files that this may concern.

Messages that wait are taken before each file, so that nothing is checked that is superseded already.
"""

from __future__ import annotations

import contextlib
import io
import queue
import tokenize
from typing import TYPE_CHECKING

from xla_lint.cli.baseline import Baseline
from xla_lint.cli.config import Configuration
from xla_lint.cli.many import Job, check_source
from xla_lint.cli.parser import parser
from xla_lint.cli.pyproject import NAME
from xla_lint.cli.usage import UsageError
from xla_lint.program.project import overlay
from xla_lint.program.project.project import Project
from xla_lint.server.memory import Memory
from xla_lint.server.messages import (
    AllChanged,
    Begun,
    Changed,
    Checked,
    FixesFound,
    FixesWanted,
    Held,
    Released,
    Told,
)
from xla_lint.server.rule_pages import rule_page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from xla_lint.cli.results import Located
    from xla_lint.server.messages import FromWorker, ToWorker

PAUSE = 0.03
"""Seconds without a message after which a check begins: keys that follow each other fast are one change."""
LONGEST_PAUSE = 10
"""How many messages are waited for at most."""


class Analysis:
    """What the editor holds, and what is known of it."""

    def __init__(self, inbox: queue.Queue[ToWorker], send: Callable[[FromWorker], None]) -> None:
        self._inbox = inbox
        self._send = send
        self._open: dict[Path, Held] = {}
        """The file that was touched last comes last."""
        self._sent: dict[Path, Checked] = {}
        self._told: set[str] = set()
        self._memory = Memory()
        self._configuration: Configuration | None = None

    def run(self) -> None:
        """Check what the messages ask for, for ever."""
        self._configure()
        while True:
            self.take(self._inbox.get())
            self.settle()
            self.check_all()

    def settle(self) -> None:
        """Take the messages that follow each other fast."""
        with contextlib.suppress(queue.Empty):
            for _ in range(LONGEST_PAUSE):
                self.take(self._inbox.get(timeout=PAUSE))

    def take(self, message: ToWorker) -> None:
        """Keep up with one message."""
        if isinstance(message, Held):
            self._open.pop(message.path, None)
            self._open[message.path] = message
            overlay.hold(message.path, encoded(message.text))
            Project.renew(message.path)
        elif isinstance(message, Released):
            self._open.pop(message.path, None)
            self._sent.pop(message.path, None)
            overlay.release(message.path)
            Project.renew(message.path)
        elif isinstance(message, Changed):
            for path in message.paths:
                Project.renew(path)
            if any(path.name == NAME for path in message.paths):
                self._configure()
        elif isinstance(message, AllChanged):
            Project.forget()
            self._configure()
        elif isinstance(message, FixesWanted):
            self._send(self._fixes(message))

    def check_all(self) -> None:
        """Check the open files, the one that was touched last first, until there is news."""
        for path in reversed(list(self._open)):
            if not self._inbox.empty():
                return
            if self._open[path].is_checked:
                self._check(self._open[path])

    def _check(self, held: Held) -> None:
        self._send(Begun(held.path))
        findings = self._findings(held)
        pages = {finding.symbol: rule_page(finding.symbol) for finding in findings}
        checked = Checked(held.path, held.version, findings, pages)
        if self._sent.get(held.path) != checked:
            self._sent[held.path] = checked
            self._send(checked)

    def _findings(self, held: Held) -> list[Located]:
        path = str(held.path)
        try:
            if self._configuration is None or self._configuration.excludes(path):
                return []
            choice = self._configuration.choice(path)
            outcome = check_source(Job(path, choice.settings), encoded(held.text), self._memory)
            findings = self._configuration.chosen(outcome)
            if choice.baseline is not None:
                findings = Baseline(choice.baseline, written_anew=False).unknown(path, findings)
        except UsageError as error:
            self._tell(str(error), is_error=True)
            return []
        for problem in outcome.problems:
            self._tell(str(problem))
        return findings

    def _fixes(self, wanted: FixesWanted) -> FixesFound:
        held = self._open.get(wanted.path)
        if held is None or held.version != wanted.version or self._configuration is None:
            return FixesFound(wanted.request)
        from xla_lint.server.quick_fixes import fixes_of  # noqa: PLC0415 - only fixing needs concrete trees

        try:
            choice = self._configuration.choice(str(held.path))
        except UsageError as error:
            self._tell(str(error), is_error=True)
            return FixesFound(wanted.request)
        return fixes_of(wanted, held, encoded(held.text), choice)

    def _configure(self) -> None:
        """Read the configuration anew."""
        self._told.clear()
        try:
            self._configuration = Configuration(parser().parse_args(["check", "-"]))
        except UsageError as error:
            self._tell(str(error), is_error=True)

    def _tell(self, text: str, *, is_error: bool = False) -> None:
        """Tell the user something, once."""
        if text not in self._told:
            self._told.add(text)
            self._send(Told(text, is_error))


def encoded(text: str) -> bytes:
    """The bytes of a file with this text, in the encoding that it declares."""
    source = text.encode(errors="replace")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
    except SyntaxError:
        return source
    return text.encode(encoding, errors="replace")
