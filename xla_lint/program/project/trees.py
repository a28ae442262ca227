"""The trees of a project's files, each made once: when a program comes to it, or by whoever has its file checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from xla_lint.program.project.file_summary import digest_of
from xla_lint.program.project.source import HalfTypedError, SourceError, decode, parse, parse_rest

if TYPE_CHECKING:
    from pathlib import Path

    from astroid import nodes

MOST_TREES = 60
"""How many trees are kept: those that were asked for last."""


class Tree(NamedTuple):
    """What is kept of a file."""

    module: nodes.Module | None
    """None for a file that is no Python."""
    digest: str
    """That of the bytes that it was made from."""
    whole: bool = True
    """False where statements that do not parse were left out."""


class Trees:
    """Trees by file."""

    def __init__(self) -> None:
        self._kept: dict[Path, Tree] = {}

    def known(self, path: Path) -> Tree | None:
        """What is kept of a file, None where nothing is."""
        found = self._kept.pop(path, None)
        if found is not None:
            self._kept[path] = found
        return found

    def forget(self, path: Path) -> None:
        """Keep no tree of a file any longer."""
        self._kept.pop(path, None)

    def keep(self, path: Path, tree: Tree) -> None:
        """Keep a tree; those that were not asked for longest are forgotten."""
        self._kept.pop(path, None)
        self._kept[path] = tree
        forget_oldest(self._kept, MOST_TREES)


def tree_of(source: bytes, path: Path) -> Tree:
    """What the bytes of a file hold; what is wrong with them is told where the file itself is checked."""
    digest = digest_of(source)
    try:
        text = decode(source)
        return Tree(parse(text, path), digest)
    except HalfTypedError:
        return Tree(parse_rest(text, path), digest, whole=False)
    except SourceError:
        return Tree(None, digest)


def forget_oldest(kept: dict[Any, Any], most: int) -> None:
    """Let a store hold so many entries at most."""
    while len(kept) > most:
        del kept[next(iter(kept))]
