"""When garbage is collected, and among what: once a check is over, and not while nearly all that it made is in use."""

from __future__ import annotations

import functools
import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

BEFORE = gc.get_threshold()
RARELY = (100_000, 50, 1000)
"""Thresholds of the three generations for a run that keeps nearly all that it makes."""


@contextmanager
def collector_paused() -> Iterator[None]:
    """Let no collection run for a while: the first one after it then finds what died in between still young.

    A collection on the way would keep what it finds for later ones, each of which looks at everything that the caller
    keeps: pylint, the trees of all modules so far. A collector that is switched off stays so.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@functools.cache
def spare_collector() -> None:
    """Let collections pass by what is loaded, once in a process: none of it is ever garbage."""
    gc.freeze()


def collect_rarely() -> None:
    """Let collections be rare in a run that keeps the trees of all modules, until `collect_as_before`.

    Each collection of the oldest objects looks at all of these trees again, and finds nothing: that takes a quarter of
    pylint's time over 157 files. Garbage is still found, in larger portions. A collector that is switched off stays so.
    """
    if gc.get_threshold()[0]:
        gc.set_threshold(*RARELY)


def collect_as_before() -> None:
    """Let collections be as frequent as when this module was loaded."""
    gc.set_threshold(*BEFORE)
