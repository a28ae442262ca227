"""The table `[tool.xla-lint]` of a pyproject.toml: what may stand in it, and one line about what may not."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from xla_lint.cli.selection import together
from xla_lint.cli.usage import UsageError, meant
from xla_lint.program.backend import OWN_PACKAGES
from xla_lint.program.project.scope import Scope, Version

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

NAME = "pyproject.toml"
TABLE = "[tool.xla-lint]"
PER_PATH = "per-path"
WHICH = ("select", "fail-on")
"""What says which findings count: to name none would say that none does."""
FOR_PATHS = ("scope", "target", "target-version", "select", "enable", "ignore", "disable")
"""What may be said of some paths alone."""
KEYS = (*FOR_PATHS, "exclude", "fail-on", "baseline", PER_PATH)


@dataclass(frozen=True, slots=True)
class Wishes:
    """What one place asks for: a table, one for some paths, or the command line. What it does not say is None."""

    scope: Scope | None = None
    backend: str | None = None
    target: Version | None = None
    select: tuple[str, ...] = ()
    switches: tuple[tuple[str, bool], ...] = ()
    """Names to switch on or off, in order."""
    fail_on: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    baseline: Path | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """What a pyproject.toml says."""

    folder: Path
    wishes: Wishes = Wishes()
    per_path: dict[str, Wishes] = field(default_factory=dict)
    """What is said of the paths that match a pattern, in the order of the file."""


def read_table(path: Path) -> Table | None:
    """The table in a pyproject.toml, None where there is none.

    Raises:
        UsageError: the file cannot be read, or what the table says will not do.
    """
    try:
        tools = tomllib.loads(path.read_text(encoding="utf-8")).get("tool", {})
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from error
    except (UnicodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {' '.join(str(error).split())}") from error
    if not isinstance(tools, dict):
        return None
    for name in tools:
        if name != "xla-lint" and re.sub(r"[-_. ]", "", name.lower()) == "xlalint":
            raise UsageError(f"{path}: [tool.{name}] is read by nothing; did you mean {TABLE}?")
    if "xla-lint" not in tools:
        return None
    try:
        return _table(path.parent, tools["xla-lint"])
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


def _table(folder: Path, table: Any) -> Table:
    if not isinstance(table, dict):
        raise UsageError("tool.xla-lint must be a table")
    wishes = _wishes(TABLE, table, KEYS, folder)
    paths = table.get(PER_PATH, {})
    if not isinstance(paths, dict):
        raise UsageError(f"{TABLE}: '{PER_PATH}' must hold tables, such as [tool.xla-lint.{PER_PATH}.\"tests/\"]")
    told = {
        pattern: _wishes(f'[tool.xla-lint.{PER_PATH}."{pattern}"]', inner, FOR_PATHS, folder)
        for pattern, inner in paths.items()
    }
    return Table(folder, wishes, told)


def _wishes(name: str, table: Any, keys: tuple[str, ...], folder: Path) -> Wishes:
    if not isinstance(table, dict):
        raise UsageError(f"{name} must be a table")
    try:
        for key in table:
            if key not in keys:
                hint = meant(key, keys) or f"there are {', '.join(keys)}"
                raise UsageError(f"unknown key '{key}'; {hint}")
        named = {key: _texts(table, key) for key in ("select", "enable", "ignore", "disable", "fail-on")}
        for names in named.values():
            together(names)
        for key in WHICH:
            if key in table and not named[key]:
                raise UsageError(f"'{key}' must name something; leave it out to have what is usual")
        baseline = _text(table, "baseline")
        return Wishes(
            scope=_scope(_text(table, "scope")),
            backend=_backend(_text(table, "target")),
            target=version(_text(table, "target-version")),
            select=named["select"],
            switches=tuple((each, key == "enable") for key in ("enable", "ignore", "disable") for each in named[key]),
            fail_on=named["fail-on"],
            exclude=_texts(table, "exclude"),
            baseline=folder / baseline if baseline else None,
        )
    except UsageError as error:
        raise UsageError(f"{name}: {error}") from error


def version(text: str | None) -> Version | None:
    """A release as the user writes it.

    Raises:
        UsageError: it is none.
    """
    try:
        return Version.parse(text) if text else None
    except ValueError as error:
        raise UsageError(str(error)) from error


def _backend(text: str | None) -> str | None:
    if text is not None and text not in OWN_PACKAGES:
        raise UsageError(f"'target' must be {' or '.join(map(repr, OWN_PACKAGES))}, not {text!r}")
    return text


def _scope(text: str | None) -> Scope | None:
    values = [scope.value for scope in Scope]
    if text is not None and text not in values:
        raise UsageError(f"'scope' must be {' or '.join(map(repr, values))}, not {text!r}")
    return Scope(text) if text is not None else None


def _text(table: dict[str, Any], key: str) -> str | None:
    value = table.get(key)
    if value is not None and not isinstance(value, str):
        raise UsageError(f"'{key}' must be a string, not {_kind(value)}")
    return value


def _texts(table: dict[str, Any], key: str) -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list):
        raise UsageError(f"'{key}' must be a list of strings, not {_kind(value)}")
    for each in value:
        if not isinstance(each, str):
            raise UsageError(f"'{key}' must hold strings alone, not {_kind(each)}")
    return tuple(value)


def _kind(value: Any) -> str:
    """How TOML calls the kind of a value."""
    kinds = {bool: "a boolean", int: "a number", float: "a number", str: "a string", dict: "a table", list: "a list"}
    return next((name for kind, name in kinds.items() if isinstance(value, kind)), "a time")
