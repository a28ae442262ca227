"""A progress bar on the terminal, for checks that take a while."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from rich.progress import Progress

T = TypeVar("T")
PATIENCE = 2.0
"""Seconds without a bar."""


def counted(items: Iterable[T], total: int) -> Generator[T, None, None]:
    """Yield the items, `total` of them; a bar appears on stderr once `PATIENCE` is over, if that is a terminal."""
    due = time.monotonic() + PATIENCE if sys.stderr and sys.stderr.isatty() else float("inf")
    bar: Progress | None = None
    try:
        for done, item in enumerate(items):
            if bar is None and time.monotonic() >= due:
                bar = _bar(total)
            if bar:
                bar.update(bar.task_ids[0], completed=done)
            yield item
    finally:
        if bar:
            bar.stop()


def _bar(total: int) -> Progress:
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress  # noqa: PLC0415

    bar = Progress(console=Console(stderr=True), transient=True)
    bar.add_task("checking", total=total)
    bar.start()
    return bar
