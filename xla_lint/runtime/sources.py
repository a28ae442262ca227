"""The text of the files that a run went through."""

from __future__ import annotations

import ast
import functools
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from xla_lint.program.project.source import SourceError, decode, read

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xla_lint.runtime.exchange import Source


_CELLS: dict[str, Source] = {}


def learn(cells: Mapping[str, Source]) -> None:
    """The names and the text of cells, which no file holds."""
    _CELLS.update(cells)


def name_of(file: str) -> str:
    """What the user calls a cell; of a file, its path."""
    return (_CELLS[file].name if file in _CELLS else "") or file


def source_of(file: str) -> str:
    """What a file holds, one in a zip file and a cell of a notebook too.

    Raises:
        SourceError: it cannot be read.
    """
    return _CELLS[file].text if file in _CELLS else _read(file)


@functools.lru_cache(maxsize=256)
def _read(file: str) -> str:
    """What a file holds, one in a zip file too.

    Raises:
        SourceError: it cannot be read.
    """
    return decode(_zipped(Path(file)) or read(file))


def line_of(file: str, line: int) -> str:
    """One line of a file, without the blanks around it; empty where it cannot be read."""
    with suppress(SourceError):
        lines = source_of(file).splitlines()
        return lines[line - 1].strip() if 0 < line <= len(lines) else ""
    return ""


def tensor_at(file: str, line: int) -> str:
    """The name of the one tensor that a line moves to a device, where the line itself tells it; else nothing."""
    with suppress(SyntaxError):
        tree = ast.parse(line_of(file, line))
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _moves(node)]
        if len(calls) == 1:
            moved = calls[0].func.value  # type: ignore[attr-defined]
            statement = tree.body[0]
            if isinstance(statement, ast.Assign) and statement.value is calls[0] and len(statement.targets) == 1:
                moved = statement.targets[0]
            return ast.unparse(moved) if isinstance(moved, (ast.Name, ast.Attribute, ast.Subscript)) else ""
    return ""


def _moves(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "to"


def _zipped(path: Path) -> bytes:
    archive = next((parent for parent in path.parents if parent.is_file()), None)
    if archive is None:
        return b""
    with suppress(OSError, zipfile.BadZipFile, KeyError), zipfile.ZipFile(archive) as opened:
        return opened.read(path.relative_to(archive).as_posix())
    return b""
