"""What to check for: the table `[tool.xla-lint]` of pyproject.toml, and the command line, which wins."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xla_lint.cli.symbols import switched
from xla_lint.cli.usage import UsageError
from xla_lint.engine import Settings, default_symbols
from xla_lint.program.project.scope import Scope, Version

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from argparse import Namespace

KEYS = ("scope", "target-version", "enable", "disable")


@dataclass(frozen=True, slots=True)
class Choice:
    """What the user chose."""

    settings: Settings
    symbols: frozenset[str]
    """The rules whose findings are reported."""


def chosen(options: Namespace, folder: Path) -> Choice:
    """The choice made in the pyproject.toml that governs `folder`, and by the options of `check`.

    Raises:
        UsageError: a value will not do.
    """
    path, table = configuration(folder)
    try:
        switches = [(name, on) for on in (True, False) for name in _names(table, "enable" if on else "disable")]
        symbols = switched(default_symbols(), switches)
        scope = Scope(_text(table, "scope", Scope.AUTO.value))
        target = _version(_text(table, "target-version", ""))
    except (UsageError, ValueError) as error:
        raise UsageError(f"{path}: [tool.xla-lint]: {error}") from error
    if options.xla_scope:
        scope = Scope(options.xla_scope)
    if options.xla_target_version:
        try:
            target = _version(options.xla_target_version)
        except ValueError as error:
            raise UsageError(f"argument --xla-target-version: {error}") from error
    symbols = switched(symbols, options.switches)
    if not symbols:
        raise UsageError("every rule is disabled")
    return Choice(Settings(scope, target), symbols)


def configuration(folder: Path) -> tuple[Path | None, dict[str, Any]]:
    """The nearest pyproject.toml, in `folder` or above, that holds the table `[tool.xla-lint]`; and that table.

    Raises:
        UsageError: a pyproject.toml on the way cannot be read, or the table has an unknown key.
    """
    for directory in (folder, *folder.parents):
        path = directory / "pyproject.toml"
        if not path.is_file():
            continue
        try:
            tools = tomllib.loads(path.read_text(encoding="utf-8")).get("tool", {})
        except (OSError, UnicodeError, tomllib.TOMLDecodeError) as error:
            raise UsageError(f"{path} cannot be read: {error}") from error
        table = tools.get("xla-lint") if isinstance(tools, dict) else None
        if table is None:
            continue
        if not isinstance(table, dict):
            raise UsageError(f"{path}: tool.xla-lint must be a table")
        for key in table:
            if key not in KEYS:
                raise UsageError(f"{path}: [tool.xla-lint]: unknown key '{key}'; there are {', '.join(KEYS)}")
        return path, table
    return None, {}


def _version(text: str) -> Version | None:
    return Version.parse(text) if text else None


def _text(table: dict[str, Any], key: str, default: str) -> str:
    value = table.get(key, default)
    if not isinstance(value, str):
        raise UsageError(f"'{key}' must be a string")
    return value


def _names(table: dict[str, Any], key: str) -> list[str]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise UsageError(f"'{key}' must be a list of symbols")
    return value
