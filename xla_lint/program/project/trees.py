"""The trees of a project's files, each made once: when a program comes to it, or by whoever has its file checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xla_lint.program.project.source import SourceError, decode, parse

if TYPE_CHECKING:
    from pathlib import Path

    from astroid import nodes

MOST_TREES = 60
"""How many trees are kept: those that were asked for last."""


class Trees:
    """Trees by file, with the digest of the bytes that they were made from."""

    def __init__(self) -> None:
        self._kept: dict[Path, tuple[nodes.Module | None, str]] = {}

    def known(self, path: Path) -> tuple[nodes.Module | None, str] | None:
        """The tree that is kept of a file, None for one that is no Python; and the digest. None where nothing is."""
        found = self._kept.pop(path, None)
        if found is not None:
            self._kept[path] = found
        return found

    def forget(self, path: Path) -> None:
        """Keep no tree of a file any longer."""
        self._kept.pop(path, None)

    def keep(self, path: Path, tree: nodes.Module | None, digest: str) -> None:
        """Keep a tree; those that were not asked for longest are forgotten."""
        self._kept.pop(path, None)
        self._kept[path] = tree, digest
        forget_oldest(self._kept, MOST_TREES)


def tree_or_none(source: bytes, path: Path) -> nodes.Module | None:
    """The tree of a file's bytes, None where they are no Python: that is told where the file itself is checked."""
    try:
        return parse(decode(source), path)
    except SourceError:
        return None


def forget_oldest(kept: dict[Any, Any], most: int) -> None:
    """Let a store hold so many entries at most."""
    while len(kept) > most:
        del kept[next(iter(kept))]
