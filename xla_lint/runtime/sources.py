"""The text of the files that a run went through."""

from __future__ import annotations

import functools
import zipfile
from contextlib import suppress
from pathlib import Path

from xla_lint.program.project.source import SourceError, decode, read


@functools.lru_cache(maxsize=256)
def text_of(file: str) -> str:
    """What a file holds, one in a zip file too; empty where it cannot be read."""
    with suppress(SourceError, UnicodeDecodeError):
        return decode(_zipped(Path(file)) or read(file))
    return ""


def line_of(file: str, line: int) -> str:
    """One line of a file, without the blanks around it."""
    lines = text_of(file).splitlines()
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""


def _zipped(path: Path) -> bytes:
    archive = next((parent for parent in path.parents if parent.is_file()), None)
    if archive is None:
        return b""
    with suppress(OSError, zipfile.BadZipFile, KeyError), zipfile.ZipFile(archive) as opened:
        return opened.read(path.relative_to(archive).as_posix())
    return b""
