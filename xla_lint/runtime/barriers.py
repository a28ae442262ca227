"""The barriers of a running program, as they happen."""

from __future__ import annotations

import functools
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xla_lint.runtime.counts import graphs, runtime

if TYPE_CHECKING:
    from collections.abc import Callable

BEFORE, AFTER = "_xla_get_default_device", "_run_step_closures"
"""What torch_xla.sync of torch_xla 2.9 calls right before the graph is cut, and right after: the one in its extension,
the other in torch_xla.core.xla_model. Every barrier goes through torch_xla.sync. The cut itself must not be wrapped: the
runtime looks at the innermost Python frames to tell why it executes, and would see the wrapper instead.
"""


@dataclass(frozen=True, slots=True)
class Barrier:
    """One barrier that has just returned."""

    began: float
    """Seconds of `time.perf_counter`."""
    seconds: float
    """How long the host was held up."""
    graphs: int
    """The graphs that it cut and sent to the device: 0 where nothing was pending."""
    compiles: int
    """How many of them had to be compiled."""


_listeners: list[Callable[[Barrier], None]] = []
_lock = threading.Lock()
_begun = threading.local()


def listen(listener: Callable[[Barrier], None]) -> None:
    """Call `listener` after every barrier, in the thread that reached it and before its closures, until `ignore`.

    Raises:
        RuntimeMissingError: torch_xla is not installed.
    """
    with _lock:
        _listeners.append(listener)
        if len(_listeners) == 1:
            for owner, name, wrapper in _hooks():
                setattr(owner, name, wrapper(getattr(owner, name)))


def ignore(listener: Callable[[Barrier], None]) -> None:
    """Stop calling `listener`; once nobody listens, torch_xla is as it was."""
    with _lock:
        _listeners.remove(listener)
        if not _listeners:
            for owner, name, _ in _hooks():
                setattr(owner, name, getattr(owner, name).__wrapped__)


def _hooks() -> tuple[tuple[Any, str, Callable[..., Any]], ...]:
    return (
        (runtime("torch_xla")._XLAC, BEFORE, _beginning),
        (runtime("torch_xla.core.xla_model"), AFTER, _reporting),
    )


def _beginning(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        _begun.graphs, _begun.compiled = graphs()
        _begun.at = time.perf_counter()
        return result

    return wrapper


def _reporting(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        ended = time.perf_counter()
        looked_up, compiled = graphs()
        barrier = Barrier(_begun.at, ended - _begun.at, looked_up - _begun.graphs, compiled - _begun.compiled)
        for listener in tuple(_listeners):
            listener(barrier)
        return function(*args, **kwargs)

    return wrapper
