"""Processes that loaded torch_xla and are not recorded, as the operating system sees them.

A child with an environment of its own, or Python without its environment (`-I`, `-E`, `-S`), never meets our hook.
"""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PROCESSES = Path("/proc")
"""Where Linux, the one system that torch_xla is built for, shows its processes."""
EXTENSION = b"/_XLAC."
"""In the name of the file that every process with torch_xla maps into its memory."""


class Strays:
    """The descendants of a program that were seen to have loaded torch_xla, and left nothing in the run's folder."""

    def __init__(self, program: int, folder: Path) -> None:
        self._program = program
        self._folder = folder
        self.found: dict[int, str] = {}
        """Their commands, by their numbers."""

    def look(self) -> None:
        """Look at the processes that are there now."""
        for parent, pid in _descendants(self._program):
            if pid in self.found or self._recorded(pid):
                continue
            forked = _command(pid) == _command(parent) and self._recorded(parent)
            if not forked and EXTENSION in _read(pid, "maps"):
                self.found[pid] = _command(pid)

    def _recorded(self, pid: int) -> bool:
        return self._folder.joinpath(str(pid)).is_dir()


def _descendants(program: int) -> Iterator[tuple[int, int]]:
    """The program and all processes below it, each with its parent."""
    children: dict[int, list[int]] = {}
    for folder in PROCESSES.iterdir() if PROCESSES.is_dir() else ():
        if folder.name.isdigit():
            pid = int(folder.name)
            _, _, rest = _read(pid, "stat").rpartition(b")")
            if len(fields := rest.split()) > 1:
                children.setdefault(int(fields[1]), []).append(pid)
    found = [(0, program)]
    for _, pid in found:
        found += [(pid, child) for child in children.get(pid, ())]
    yield from found


def _command(pid: int) -> str:
    return shlex.join(os.fsdecode(word) for word in _read(pid, "cmdline").split(b"\0")[:-1])


def _read(pid: int, what: str) -> bytes:
    """What a process shows of itself; nothing once it has gone."""
    with suppress(OSError):
        return PROCESSES.joinpath(str(pid), what).read_bytes()
    return b""
