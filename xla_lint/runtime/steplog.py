"""What the callbacks for training frameworks share: counting by the framework's own steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.runtime.counter import CompileCounter
from xla_lint.runtime.counts import compiles
from xla_lint.runtime.explained import Explained
from xla_lint.runtime.watcher import LOGGER

if TYPE_CHECKING:
    from xla_lint.runtime.counts import Counts
    from xla_lint.runtime.explained import Compiled


class StepLog:
    """Counts from `begin` to `end`, and logs each step after the first `after` ones in which something is compiled."""

    def __init__(self, after: int) -> None:
        self._after = after
        self._steps = 0
        self._counter: CompileCounter | None = None
        self._explained = Explained.begin()
        self._seen = 0

    def begin(self) -> None:
        """Training begins; an earlier one that failed without a word is over.

        Raises:
            RuntimeMissingError: torch_xla is not installed.
        """
        if self._counter is not None:
            self._counter.__exit__(None, None, None)
        self._counter = CompileCounter()
        self._counter.__enter__()
        self._steps = 0
        self._seen = compiles()

    def step(self, number: int) -> None:
        """The framework's step `number` has ended."""
        if self._counter is None:
            return
        self._steps += 1
        self._report(f"in step {number}")

    def end(self) -> Counts | None:
        """Training ends: log the totals, and return them; None where it never began."""
        if self._counter is None:
            return None
        self._counter.__exit__(None, None, None)
        counts = self._counter.counts
        self._counter = None
        self._report("after the last step")
        LOGGER.info(
            "%d compiles (%.1f s), %d executions and %d reads in %d steps",
            counts.compiles,
            counts.compile_seconds,
            counts.executions,
            counts.reads,
            self._steps,
        )
        return counts

    def _report(self, when: str) -> None:
        now = compiles()
        where = dict.fromkeys(map(_told, self._explained.new())) if self._explained is not None else ()
        if now > self._seen and self._steps > self._after:
            LOGGER.warning("compiled %d times %s%s", now - self._seen, when, "".join(f"; {each}" for each in where))
        self._seen = now


def _told(compiled: Compiled) -> str:
    return f"{compiled.where}, because {compiled.why}" if compiled.why else compiled.where
