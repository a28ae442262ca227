"""The steps of a run in bounded memory."""

from __future__ import annotations

from xla_lint.runtime.exchange import Steps

ROOM = 2048
"""Once so many entries are there, each two neighbours become one."""


class Timeline:
    """Steps in order. Of a long run, an entry stands for several successive steps."""

    def __init__(self) -> None:
        self.entries: list[Steps] = []
        self._width = 1

    def add(self, end: float, compiles: int, executions: int, reads: int, *, ends: bool = True) -> None:
        """Something has happened until now, and a step has ended, or goes on."""
        last = self.entries[-1] if self.entries else None
        if last is not None and (last.number < self._width or not ends):
            last.number += ends
            last.end = end
            last.compiles += compiles
            last.executions += executions
            last.reads += reads
        else:
            self.entries.append(Steps(int(ends), end, compiles, executions, reads))
        if len(self.entries) >= ROOM and self.entries[-1].number == self._width:
            pairs = zip(self.entries[::2], self.entries[1::2], strict=True)
            self.entries = [_joined(first, second) for first, second in pairs]
            self._width *= 2


def _joined(first: Steps, second: Steps) -> Steps:
    return Steps(
        first.number + second.number,
        second.end,
        first.compiles + second.compiles,
        first.executions + second.executions,
        first.reads + second.reads,
    )
