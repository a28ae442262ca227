"""One line in the log for every unexpected recompile, while the program runs."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

from xla_lint.runtime import barriers
from xla_lint.runtime.explained import Explained
from xla_lint.runtime.places import here, own

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.runtime.barriers import Barrier

LOGGER = logging.getLogger("xla_lint.runtime")


class Watcher:
    """Logs a warning whenever a barrier compiles although the program is warm."""

    def __init__(self, after: int) -> None:
        self._after = after
        self._steps = 0
        self._explained = Explained.begin()

    def reached(self, barrier: Barrier) -> None:
        """A barrier has returned."""
        if not barrier.executed:
            return
        self._steps += 1
        if not barrier.compiles:
            return
        new = list(self._explained.new()) if self._explained is not None else []
        if self._steps > self._after:
            why = f", because {new[-1].why}" if new and new[-1].why else ""
            place = own(here()) or "an unknown line"
            LOGGER.warning("recompiled at %s in step %d: %.1f s%s", place, self._steps, barrier.seconds, why)


@contextmanager
def watch(after: int = 3) -> Iterator[None]:
    """Log every recompile at a barrier, but for those of the first `after` steps, to the logger `xla_lint.runtime`.

    Costs two microseconds a barrier. Compiles that a read forces are not at a barrier: count those.

    Raises:
        RuntimeMissingError: torch_xla is not installed.
    """
    watcher = Watcher(after)
    barriers.listen(watcher.reached)
    try:
        yield
    finally:
        barriers.ignore(watcher.reached)
