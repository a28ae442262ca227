"""What is to be checked for in each file: the pyproject.toml that governs it, and the command line, which wins."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from xla_lint.cli.pyproject import NAME, Table, Wishes, read_table, version
from xla_lint.cli.selection import Selection
from xla_lint.cli.usage import UsageError
from xla_lint.engine import Settings
from xla_lint.program.project.scope import Scope
from xla_lint.program.project.source import absolute
from xla_lint.rules import all_rules

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable

    from pathspec import GitIgnoreSpec

    from xla_lint.cli.results import Located, Outcome


class Choice(NamedTuple):
    """What the user chose for one file."""

    settings: Settings
    selection: Selection
    """The findings that are reported."""
    fail_on: Selection
    """Those among them that fail the check."""
    baseline: Path | None
    """The file with the findings that are known and accepted."""

    def reports(self, finding: Located) -> bool:
        """Whether a finding is reported."""
        return finding.confidence in self.selection.levels and (
            finding.asked_for or finding.symbol in self.selection.symbols
        )

    def fails(self, finding: Located) -> bool:
        """Whether a finding that is reported fails the check."""
        return self.fail_on.takes(finding.symbol, finding.confidence)


class Configuration:
    """What governs the files of a run."""

    def __init__(self, options: Namespace) -> None:
        """Take the options of `check`.

        Raises:
            UsageError: an option will not do.
        """
        self._asked = _asked(options)
        self._excluded = _patterns(Path.cwd(), self._asked.exclude)
        self._tables: dict[Path, Governing] = {}
        self._found: dict[Path, Governing] = {}
        self._of(Path.cwd())

    def choice(self, path: str) -> Choice:
        """What the user chose for a file.

        Raises:
            UsageError: a pyproject.toml will not do, or every rule is disabled.
        """
        file = absolute(path)
        return self._of(file.parent).choice(file, self._asked)

    def chosen(self, outcome: Outcome) -> list[Located]:
        """The findings of a file that the user chose to have reported.

        Raises:
            UsageError: a pyproject.toml will not do.
        """
        choice = self.choice(outcome.path)
        return [finding for finding in outcome.findings if choice.reports(finding)]

    def excludes(self, path: str) -> str:
        """What leaves a file out, as the user is told; empty where nothing does.

        Raises:
            UsageError: a pyproject.toml will not do.
        """
        file = absolute(path)
        if self._excluded.matches(file):
            return "--exclude"
        governing = self._of(file.parent)
        return str(governing.table.folder / NAME) if governing.excluded.matches(file) else ""

    def _of(self, folder: Path) -> Governing:
        known = self._found.get(folder)
        if known is None:
            known = self._found[folder] = self._read(folder)
        return known

    def _read(self, folder: Path) -> Governing:
        """The nearest table in a folder or above."""
        path = folder / NAME
        if os.path.lexists(path):
            table = read_table(path)
            if table is not None:
                return Governing(table)
        return self._of(folder.parent) if folder.parent != folder else Governing(Table(folder))


class Governing:
    """One table, ready for the files below its folder."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.excluded = _patterns(table.folder, table.wishes.exclude)
        self._per_path = [(_patterns(table.folder, (pattern,)), told) for pattern, told in table.per_path.items()]
        self._choices: dict[tuple[int, ...], Choice] = {}

    def choice(self, file: Path, asked: Wishes) -> Choice:
        """What the user chose for a file: in the table, there for its path, and on the command line, the last wins."""
        matching = tuple(number for number, (paths, _) in enumerate(self._per_path) if paths.matches(file))
        if matching not in self._choices:
            layers = [self.table.wishes, *(self._per_path[number][1] for number in matching), asked]
            self._choices[matching] = _chosen(layers)
        return self._choices[matching]


class Patterns(NamedTuple):
    """Patterns as in a .gitignore, seen from a folder."""

    folder: Path
    spec: GitIgnoreSpec | None

    def matches(self, file: Path) -> bool:
        """Whether a file is meant."""
        if self.spec is None or not file.is_relative_to(self.folder):
            return False
        return self.spec.match_file(file.relative_to(self.folder).as_posix())


def _patterns(folder: Path, lines: tuple[str, ...]) -> Patterns:
    if not lines:
        return Patterns(folder, None)
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - few runs need patterns

    try:
        return Patterns(folder, GitIgnoreSpec.from_lines(lines))
    except ValueError as error:
        raise UsageError(f"no pattern for paths: {error}") from error


def _asked(options: Namespace) -> Wishes:
    """What the command line asks for."""
    try:
        target = version(options.xla_target_version)
    except UsageError as error:
        raise UsageError(f"argument --xla-target-version: {error}") from error
    wishes = Wishes(
        scope=Scope(options.xla_scope) if options.xla_scope else None,
        backend=options.xla_target,
        target=target,
        select=tuple(options.select),
        switches=tuple(options.switches),
        fail_on=tuple(options.fail_on),
        exclude=tuple(options.exclude),
        baseline=options.baseline,
    )
    _chosen([wishes])
    return wishes


def _chosen(layers: Iterable[Wishes]) -> Choice:
    """What follows from all that was asked for, the last wins."""
    choice = Choice(Settings(), Selection.default(), Selection(_every_symbol()), None)
    for wishes in layers:
        before = choice.settings
        settings = Settings(
            wishes.scope or before.scope, wishes.target or before.target, wishes.backend or before.backend
        )
        choice = choice._replace(
            settings=settings,
            selection=choice.selection.only(wishes.select).switched(wishes.switches),
            fail_on=Selection(_every_symbol()).only(wishes.fail_on) if wishes.fail_on else choice.fail_on,
            baseline=wishes.baseline or choice.baseline,
        )
    if not choice.selection.symbols:
        raise UsageError("every rule is disabled")
    if not choice.selection.levels:
        raise UsageError("every level of confidence is left out")
    return choice


def _every_symbol() -> frozenset[str]:
    return frozenset(rule.symbol for rule in all_rules())
