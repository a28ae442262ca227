"""What this process compiles, as it happens: at which line, and what differs from the closest graph before."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from xla_lint.runtime import debugfile
from xla_lint.runtime.causes import cause_of
from xla_lint.runtime.graphs import Dumps
from xla_lint.runtime.places import own
from xla_lint.runtime.records import COMPILE
from xla_lint.runtime.sites import Site

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from xla_lint.runtime.places import Frame


class Compiled(NamedTuple):
    """One graph."""

    place: Frame | None
    cause: str
    why: str
    """What differs, where the graph was dumped and one like it was compiled at the same place; else empty."""

    @property
    def where(self) -> str:
        """The line, its function and the cause, as a message says them."""
        return f"{self.place} in {self.place.function}: {self.cause}" if self.place else self.cause


class Explained:
    """The graphs that are compiled from now on."""

    def __init__(self) -> None:
        self._tail = debugfile.Tail()
        self._dumps = Dumps(Path(debugfile.dumps()))
        if debugfile.dumps():
            self._dumps.forget()
        self._sites: dict[Hashable, Site] = {}
        self._number = 0

    @classmethod
    def begin(cls) -> Explained | None:
        """Begin to take note; None where torch_xla can no longer be told to record, or the user's records are off."""
        return cls() if debugfile.record_compilations() else None

    def new(self) -> Iterator[Compiled]:
        """Those since the last call."""
        for record in self._tail.records():
            if record.kind != COMPILE:
                continue
            self._number += 1
            graph = self._dumps.take(record.inputs, record.outputs) if debugfile.dumps() else None
            site = self._sites.setdefault((record.frames, record.cause), Site())
            against = site.add(self._number, graph) if graph is not None else None
            why = "; and because ".join(each.words for each in against.differences) if against else ""
            yield Compiled(own(record.frames), cause_of(record.cause).words, why)
