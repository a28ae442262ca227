"""The runtime's debug file in this process: where it is, and what it says so far."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from xla_lint.runtime.counts import take
from xla_lint.runtime.records import RecordParser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.runtime.records import Record

FILE, LEVEL, OLD_LEVEL, FRAMES = "PT_XLA_DEBUG_FILE", "PT_XLA_DEBUG_LEVEL", "PT_XLA_DEBUG", "PT_XLA_DEBUG_MAX_FRAME"
XLA_FLAGS, DUMP = "XLA_FLAGS", "--xla_dump_to"
GRAPHS = "graphs"
COMPILATIONS, EVERYTHING = "1", "2"
ENOUGH_FRAMES = "64"
"""torch_xla keeps 8 by default, and Lightning or logging alone fill those."""


class Variables:
    """The debug variables of this process, whatever it does to its environment before torch_xla reads them."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}
        self._keep()

    @property
    def file(self) -> str:
        """The file of the records."""
        return self._values.get(FILE, "")

    @property
    def level(self) -> str:
        """The level, as it was set."""
        return self._values.get(LEVEL) or self._values.get(OLD_LEVEL, "")

    def size(self) -> int:
        """The bytes that the file holds now."""
        path = Path(self.file)
        return path.stat().st_size if path.is_file() else 0

    def ready(self) -> None:
        """Something may be executed now, for the first time: have torch_xla find the variables.

        Where the program has cleared its environment, that of the C library alone gets them: `os.environ` stays.
        """
        cleared = FILE not in os.environ and bool(self.file)
        if cleared:
            for name, value in self._values.items():
                os.putenv(name, value)
        else:
            self._keep()

    def _keep(self) -> None:
        self._values = {name: os.environ[name] for name in (FILE, LEVEL, OLD_LEVEL, FRAMES) if name in os.environ}


def asked_for() -> bool:
    """True where the program, or whoever started it, has set the debug variables."""
    return any(os.environ.get(name) for name in (FILE, LEVEL, OLD_LEVEL))


def record_compilations() -> bool:
    """Have the runtime write a record for every compilation of this process; False where that is not possible.

    torch_xla reads its debug variables once, when it first compiles or executes: later it is too late. Variables that
    are set already stay as they are; they serve if they name a file. XLA reads its flags when the device is first used,
    and dumps graphs if that is still to come.
    """
    if os.environ.get(FILE):
        return any(os.environ.get(name, "0") != "0" for name in (LEVEL, OLD_LEVEL))
    if asked_for():
        return False
    if "torch_xla" in sys.modules and (counts := take()) and (counts.compiles or counts.executions):
        return False
    folder = tempfile.mkdtemp(prefix="xla-lint-")
    os.environ.update({FILE: str(Path(folder, "debug.log")), LEVEL: COMPILATIONS})
    os.environ.setdefault(FRAMES, ENOUGH_FRAMES)
    flags = os.environ.get(XLA_FLAGS, "")
    if DUMP not in flags:
        os.environ[XLA_FLAGS] = f'{flags} {DUMP}="{Path(folder, GRAPHS)}" --xla_dump_hlo_as_text'.strip()
    atexit.register(_remove, folder, os.getpid())
    return True


def dumps() -> str:
    """Where `record_compilations` has XLA dump its graphs; empty where the flags are the user's own."""
    folder = Path(os.environ.get(FILE, "")).parent / GRAPHS
    return str(folder) if str(folder) in os.environ.get(XLA_FLAGS, "") else ""


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


class Tail:
    """What is appended to the debug file from now on."""

    def __init__(self) -> None:
        self._path = Path(os.environ[FILE])
        self._offset = self._path.stat().st_size if self._path.exists() else 0
        self._parser = RecordParser()

    def records(self) -> Iterator[Record]:
        """The records since the last call."""
        if not self._path.exists():
            return
        if self._path.stat().st_size < self._offset:  # whoever collects has begun a new one
            self._offset = 0
        with self._path.open("rb") as file:
            file.seek(self._offset)
            text = file.read()
        self._offset += len(text)
        yield from self._parser.feed(text.decode(errors="surrogateescape"))
