"""Texts that are not saved yet: they stand for what files hold on disk, for every file of a program.

Whoever changes what is held has projects look again: `Project.renew`.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_held: dict[Path, bytes] = {}


def hold(path: Path, source: bytes) -> None:
    """Let a file, by its absolute path, hold these bytes, whether there is one on disk or not."""
    _held[path] = source


def release(path: Path) -> None:
    """Let a file hold what it does on disk, or be gone where there is none."""
    _held.pop(path, None)


def held(path: Path) -> bytes | None:
    """The bytes that stand for a file, None where it holds what it does on disk."""
    return _held.get(path)


def held_below(folder: Path) -> list[Path]:
    """The files below a folder, at any depth, for which something is held."""
    return [path for path in _held if folder in path.parents]


@contextmanager
def overlaid(sources: Mapping[Path, bytes]) -> Iterator[None]:
    """Let files, by their absolute paths, hold other bytes meanwhile."""
    before = dict(_held)
    _held.update(sources)
    try:
        yield
    finally:
        _held.clear()
        _held.update(before)
