"""What is known of a project's files by their bytes; what an earlier run kept is unpacked where it is asked for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from xla_lint.program.project.file_summary import FileSummary
from xla_lint.program.project.paths import path_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

Packed = dict[str, list[Any]]
"""What `FileSummary.packed` gives, by path."""


class Summaries:
    """Summaries by file."""

    def __init__(self) -> None:
        self._known: dict[Path, FileSummary] = {}
        self._kept: dict[str, list[Any]] = {}
        """Stamp and digest of files of whose summaries `_rest` gives the rest."""
        self._rest: Callable[[], Packed] = dict

    def begin_with(self, kept: Packed, rest: Callable[[], Packed]) -> None:
        """Take stamps and digests of files that are as they were, and what gives the rest of their summaries."""
        self._kept, self._rest = kept, rest

    def get(self, path: Path) -> FileSummary | None:
        """What is known of a file, None where nothing is."""
        found = self._known.get(path)
        if found is None and os.fspath(path) in self._kept:
            name = os.fspath(path)
            found = self._known[path] = FileSummary.unpacked([*self._kept.pop(name), *self._rest()[name]])
        return found

    def __setitem__(self, path: Path, summary: FileSummary) -> None:
        self._known[path] = summary

    def pop(self, path: Path) -> FileSummary | None:
        """What was known of a file, which is forgotten."""
        found = self.get(path)
        self._known.pop(path, None)
        return found

    def __iter__(self) -> Iterator[Path]:
        yield from self._known
        yield from map(path_of, self._kept)

    def __len__(self) -> int:
        return len(self._known) + len(self._kept)

    def packed(self) -> Packed:
        """All summaries, in a form that JSON keeps."""
        kept = {name: [*head, *self._rest()[name]] for name, head in self._kept.items()}
        return {**kept, **{os.fspath(path): summary.packed() for path, summary in self._known.items()}}
