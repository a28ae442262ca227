"""When garbage is collected, and among what: once a check is over, and not while nearly all that it made is in use."""

from __future__ import annotations

import functools
import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


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
