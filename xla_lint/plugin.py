"""The pylint checker: the only module that knows pylint's message API."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from pylint import interfaces
from pylint.checkers import BaseChecker

from xla_lint.engine import Settings
from xla_lint.failures import check
from xla_lint.pages import address
from xla_lint.places import lines_of, place_of
from xla_lint.program.backend import OWN_PACKAGES
from xla_lint.program.interpreter.collector_pause import collect_as_before, collect_rarely, spare_collector
from xla_lint.program.project.overlay import overlaid
from xla_lint.program.project.project import Project
from xla_lint.program.project.scope import Scope, Version
from xla_lint.program.project.source import absolute
from xla_lint.program.syntax.index import forget_index
from xla_lint.rules import all_rules
from xla_lint.rules.base import Confidence, Severity

if TYPE_CHECKING:
    from argparse import Namespace
    from pathlib import Path

    from astroid import nodes
    from pylint.lint import PyLinter
    from pylint.typing import ExtraMessageOptions, MessageDefinitionTuple

    from xla_lint.rules.base import Rule

WRONG_USAGE = 32
"""pylint's exit status for options that will not do."""
CONFIDENCES = {
    Confidence.HIGH: interfaces.HIGH,
    Confidence.CONTROL_FLOW: interfaces.CONTROL_FLOW,
    Confidence.INFERENCE: interfaces.INFERENCE,
}


def description(rule: type[Rule]) -> str:
    """What `pylint --help-msg` says of a rule: its summary, why it matters, and where its page is."""
    page = rule.page()
    summary = page.partition("\n\n")[0]
    why = re.search(r"^#+ Why it matters\n(.+?)(?=^#|\Z)", page, re.MULTILINE | re.DOTALL)
    parts = (summary, why[1] if why else "", f"More: {address(rule)}")
    return " ".join(" ".join(parts).split())


def message(rule: type[Rule]) -> MessageDefinitionTuple:
    """A rule as pylint wants its messages."""
    options: ExtraMessageOptions = {"default_enabled": rule.severity is not Severity.ADVICE}
    return rule.message + "%(via)s", rule.symbol, description(rule), options


def settings(config: Namespace) -> Settings:
    """What the user chose, from pylint's options.

    Raises:
        ValueError: the target is no version.
    """
    target = config.xla_target_version
    version = Version.parse(target) if target else None
    return Settings(Scope(config.xla_scope), version, config.xla_target or None)


def prepare(linter: PyLinter) -> None:
    """Get ready for a run of pylint; end it where an option's value will not do.

    Raises:
        SystemExit: with pylint's status for wrong usage.
    """
    try:
        settings(linter.config)
    except ValueError as error:
        print(f"pylint: error: argument --xla-target-version: {error}", file=sys.stderr)
        sys.exit(WRONG_USAGE)
    collect_rarely()


class XlaChecker(BaseChecker):
    """What stalls a PyTorch/XLA program."""

    name = "xla-lint"
    msgs = {rule.code(): message(rule) for rule in all_rules()}  # noqa: RUF012
    options = (
        (
            "xla-scope",
            {
                "type": "choice",
                "choices": [scope.value for scope in Scope],
                "default": Scope.AUTO.value,
                "metavar": "<auto or all>",
                "help": "Check the modules of an XLA program (auto), or every module that uses torch (all).",
            },
        ),
        (
            "xla-target",
            {
                "type": "choice",
                "choices": ["", *OWN_PACKAGES],
                "default": "",
                "metavar": f"<{' or '.join(OWN_PACKAGES)}>",
                "help": "The backend that the code is for. Without it, what each program says; one may be for several.",
            },
        ),
        (
            "xla-target-version",
            {
                "type": "string",
                "default": "",
                "metavar": "<X.Y>",
                "help": "The torch_xla release that the code must run on. Without it, the release that the project's "
                "own files declare, else the newest.",
            },
        ),
    )

    def open(self) -> None:
        """Forget the projects of an earlier run: their files may have changed.

        pylint keeps the trees of all modules, so that there are many collections, and each looks at everything.
        """
        Project.forget()
        spare_collector()

    def close(self) -> None:
        """Leave the collector as it was before the run."""
        collect_as_before()

    def _unsaved(self, node: nodes.Module) -> dict[Path, bytes]:
        """What stands for a file that is not saved: standard input, under the file's name."""
        if not (self.linter.config.from_stdin and node.file):
            return {}
        with node.stream() as stream:  # type: ignore[no-untyped-call]
            return {absolute(node.file): stream.read()}

    def visit_module(self, node: nodes.Module) -> None:
        """Check a module as a whole; pylint itself leaves out what is disabled."""
        with overlaid(self._unsaved(node)):
            project = Project.around(node.file)
            checked = check(node, project, settings(self.linter.config))
        if not project.shares(node):
            forget_index(node)
        for failure in checked.failures:
            path = failure.path or node.file
            place = f"{path}:{failure.line}" if failure.line else path
            self.linter.add_message("fatal", args=f"{place}: {failure.message}", confidence=interfaces.HIGH)
        lines = lines_of(node) if checked.findings else []
        for finding in checked.findings:
            extent = place_of(finding.node, lines)
            self.add_message(
                finding.rule.code(),
                node=finding.node,
                line=extent.line,
                col_offset=extent.column - 1,
                end_lineno=extent.end_line,
                end_col_offset=extent.end_column - 1,
                args={**finding.facts, "via": finding.via},
                confidence=CONFIDENCES[finding.confidence],
            )
