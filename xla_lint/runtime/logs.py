"""A debug file read while the program goes on writing to it, with bounded disk space."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from xla_lint.runtime.records import RecordParser

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

    from xla_lint.runtime.records import Record

PIECE = 1 << 20
"""Bytes read at a time."""
ROTATE = 64 << 20
"""Bytes after which a file of our own is renamed and deleted; torch_xla opens it anew for each record."""


class DebugLog:
    """One process's debug file."""

    def __init__(self, path: Path, *, owned: bool, offset: int = 0, echo: int | None = None) -> None:
        """A file that is not `owned` is left alone; what it held up to `offset` bytes is not this run's.

        `echo` is a file descriptor that gets a copy of everything read: where the program wanted its records.
        """
        self.path = path
        self.owned = owned
        self._offset = offset
        self.echoes = echo is not None
        self._echo = echo
        self._parser = RecordParser()
        self._renamed: Path | None = None
        self._renamed_offset = 0

    def records(self) -> Iterator[Record]:
        """The records that were written since the last call."""
        if self._renamed is not None:
            self._renamed_offset += yield from self._read(self._renamed, self._renamed_offset)
            self._renamed.unlink()
            self._renamed = None
        if not self.path.is_file():
            return
        self._offset += yield from self._read(self.path, self._offset)
        if self.owned and self._offset >= ROTATE:
            self._renamed = self.path.with_suffix(".old")
            self.path.replace(self._renamed)
            self._renamed_offset, self._offset = self._offset, 0

    def _read(self, path: Path, offset: int) -> Generator[Record, None, int]:
        """The records from `offset` on; returns the number of bytes they took."""
        taken = 0
        with path.open("rb") as file:
            file.seek(offset)
            while piece := file.read(PIECE):
                taken += len(piece)
                if self._echo is not None:
                    os.write(self._echo, piece)
                yield from self._parser.feed(piece.decode(errors="surrogateescape"))
        return taken
