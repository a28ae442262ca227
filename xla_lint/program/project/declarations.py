"""Which files say what a project depends on, and the release of a package that they admit.

Lock files count first, since they name the release that is installed. A file is parsed only where it mentions the
package that is asked for.
"""

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from xla_lint.program.project.source import SourceError, read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from packaging.specifiers import SpecifierSet

LAST_MINOR = 99
"""Stands for the last minor release of a major one."""
MOST_PATCHES = 10
"""How many releases of a minor one are tried."""

LINES = "lines"
"""Requirements as pip reads them, a line each."""
KINDS = {
    "poetry.lock": "lock",
    "uv.lock": "lock",
    "pdm.lock": "lock",
    "pylock*.toml": "lock",
    "Pipfile.lock": "Pipfile.lock",
    "pyproject.toml": "pyproject",
    "requirements.txt": LINES,
    "requirements*.txt": LINES,
    "*requirements.txt": LINES,
    "requirements/*.txt": LINES,
    "constraints*.txt": LINES,
    "Pipfile": "Pipfile",
    "setup.cfg": "setup.cfg",
    "setup.py": "setup.py",
    "environment*.yml": "conda",
    "environment*.yaml": "conda",
}
"""The kinds of files, by patterns for their names below the root; the first ones count first."""
NESTED = "requirements"
"""The folder whose files are looked at too."""
INCLUDED = re.compile(r"^\s*(?:-r|-c|--requirement|--constraint)[\s=]+(\S+)\s*$", re.MULTILINE)


def is_declaration(path: Path, root: Path) -> bool:
    """Whether a file may say something of a project's dependencies."""
    return path.suffix == ".txt" or kind_of(path, root) is not None


def kind_of(path: Path, root: Path) -> str | None:
    """The kind of a file, None where its name does not tell."""
    name = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
    return next((kind for pattern, kind in KINDS.items() if fnmatchcase(name, pattern)), None)


@lru_cache(maxsize=64)
def files_of(root: Path) -> tuple[Path, ...]:
    """The files that say what a project depends on, those that count first before; included ones after their own."""
    names = [*_names(root), *(f"{NESTED}/{name}" for name in _names(root / NESTED))]
    found: dict[Path, None] = {}
    for pattern in KINDS:
        for name in names:
            if fnmatchcase(name, pattern):
                _include(root / name, found)
    return tuple(found)


def _include(path: Path, found: dict[Path, None]) -> None:
    text = _text(path) if path not in found else None
    if text is None:
        return
    found[path] = None
    if path.suffix == ".txt":
        for written in INCLUDED.findall(text):
            _include(Path(os.path.normpath(path.parent / written)), found)


@lru_cache(maxsize=64)
def requirements(root: Path | None, package: str) -> tuple[SpecifierSet, ...]:
    """What a project asks of a package, those that count first before; its mere name asks nothing."""
    found: list[SpecifierSet] = []
    for path in files_of(root) if root is not None else ():
        found += _asked(_text(path) or "", (root and kind_of(path, root)) or LINES, package)
    return tuple(found)


def required_by(commands: str, package: str) -> tuple[SpecifierSet, ...]:
    """What shell commands that install packages ask of one."""
    words = re.findall(r"\"[^\"]*\"|'[^']*'|\S+", commands)
    return tuple(_asked("\n".join(word.strip("\"'") for word in words), LINES, package))


def _asked(text: str, kind: str, package: str) -> Iterator[SpecifierSet]:
    if re.search(re.sub("[-_.]+", "[-_.]+", package), text, re.IGNORECASE) is None:
        return
    from xla_lint.program.project.requirement_files import asked_in, canonical  # noqa: PLC0415 - few runs need it

    wanted = canonical(package)
    yield from (specifiers for name, specifiers in asked_in(text, kind) if name == wanted and specifiers)


def forget() -> None:
    """Forget what files say: they may have changed."""
    files_of.cache_clear()
    requirements.cache_clear()


def releases_named(specifiers: SpecifierSet) -> list[tuple[int, int]]:
    """The minor releases that clauses name, those left out that they only exclude."""
    named = [_numbers(clause.version) for clause in specifiers if clause.operator != "!="]
    return [(numbers[0], [*numbers, 0][1]) for numbers in named if numbers]


def newest_admitted(specifiers: SpecifierSet) -> tuple[int, int] | None:
    """The newest minor release that clauses admit, where they set an end; its minor number may be `LAST_MINOR`.

    A lower bound alone says nothing about the release in use. Below 5.0 the last release of 4 is meant.
    """
    ends = [end for clause in specifiers if (end := _end(clause.operator, clause.version)) is not None]
    if not ends:
        return None
    major, minor = min(ends)
    exact = [clause.version for clause in specifiers if clause.operator in ("==", "===", "<=", "~=", ">=")]
    for _ in range(2 * LAST_MINOR):
        names = [f"{major}.{minor}.{patch}" for patch in range(MOST_PATCHES)]
        names += [name for name in exact if _numbers(name)[:2] == [major, minor] and "*" not in name]
        if any(specifiers.contains(name, prereleases=True) for name in names):
            return major, minor
        major, minor = (major, minor - 1) if minor else (major - 1, LAST_MINOR)
        if major < 0:
            break
    return None


def _end(operator: str, version: str) -> tuple[int, int] | None:
    """The last minor release that a clause may admit, None where it sets no end."""
    numbers = _numbers(version)
    if not numbers or operator in (">", ">=", "!="):
        return None
    if operator == "~=":
        numbers = numbers[:-1]
    open_minor = len(numbers) == 1 and (operator == "~=" or version.endswith(".*"))
    return numbers[0], LAST_MINOR if open_minor else [*numbers, 0][1]


def _numbers(version: str) -> list[int]:
    match = re.match(r"v?(?:\d+!)?(\d+(?:\.\d+)*)", version)
    return [int(part) for part in match[1].split(".")] if match else []


def _text(path: Path) -> str | None:
    """The text of a file, None where it cannot be read."""
    try:
        return read(path).decode("utf-8-sig", "replace")
    except SourceError:
        return None


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208 - names alone
    except OSError:
        return []
