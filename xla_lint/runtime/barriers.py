"""The barriers of a running program, as they happen."""

from __future__ import annotations

import functools
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from xla_lint.runtime.counts import COMPILED, graphs, remember, runtime, since

if TYPE_CHECKING:
    from collections.abc import Callable

BARRIER, BEFORE, AFTER = "sync", "_xla_get_default_device", "_run_step_closures"
"""How torch_xla 2.9 cuts a graph.

Every barrier goes through torch_xla.sync. BEFORE is what that calls right before the cut (in the extension), AFTER
right after it (in torch_xla.core.xla_model). The cut itself must not be wrapped: the runtime looks at the innermost
Python frames to tell why it executes.
"""
CLEARING = ("clear_counters", "clear_metrics")
"""What dynamo (the first) and programs call to begin counting anew; what is counted so far would be lost."""


class Barrier(NamedTuple):
    """One barrier that has just returned."""

    began: float
    """Seconds of `time.perf_counter`."""
    seconds: float
    """How long the host was held up."""
    compiles: int
    """The graphs that it had to compile itself."""
    executed: int
    """The graphs executed since the barrier before, by this one or by reads; where there are some, a step ends."""
    compiled: int
    """How many of these were compiled."""
    graphs: int
    """The first of `counts.graphs()` when it returned."""


_listeners: list[Callable[[Barrier], None]] = []
_starters: list[Callable[[], None]] = []
_lock = threading.Lock()


class _Begun(threading.local):
    """A thread's barrier, as far as it has come."""

    at = 0.0
    compiled = 0
    """The graphs compiled when it began."""
    last: tuple[int, int] | None = None
    """`graphs()` at the thread's barrier before."""


_begun = _Begun()
_start = (0, 0)
"""`graphs()` when the first listener came: the barrier before the first one of a thread."""


def listen(listener: Callable[[Barrier], None]) -> None:
    """Call `listener` after every barrier, in the thread that reached it and before its closures, until `ignore`.

    Raises:
        RuntimeMissingError: torch_xla is not installed.
    """
    global _start  # noqa: PLW0603 - one process has one runtime
    with _lock:
        _listeners.append(listener)
        if len(_listeners) == 1:
            _begun.last = None
            _start = graphs()
            for owner, name, wrapper in _hooks():
                setattr(owner, name, wrapper(getattr(owner, name)))


def before_each(starter: Callable[[], None]) -> None:
    """Call `starter` before every barrier, as long as somebody listens to them; it must not raise."""
    _starters.append(starter)


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
        *((runtime("torch_xla.debug.metrics"), name, _saving) for name in CLEARING),
    )


def _beginning(function: Callable[..., Any]) -> Callable[..., Any]:
    value = runtime("torch_xla")._XLAC._xla_counter_value

    @functools.wraps(function)
    def wrapper() -> Any:
        if sys._getframe(1).f_code.co_name == BARRIER:
            for starter in _starters:
                starter()
            _begun.compiled = value(COMPILED) or 0
            _begun.at = time.perf_counter()
        return function()

    return wrapper


def _saving(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        remember()
        result = function(*args, **kwargs)
        remember()  # else what is counted up to the old number again would seem to have been there
        return result

    return wrapper


def _reporting(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        ended = time.perf_counter()
        looked_up, compiled = graphs()
        looked_up_before, compiled_before = _begun.last or _start
        barrier = Barrier(
            _begun.at,
            ended - _begun.at,
            compiled - _begun.compiled,
            since(looked_up_before, looked_up),
            since(compiled_before, compiled),
            looked_up,
        )
        _begun.last = looked_up, compiled
        for listener in tuple(_listeners):
            listener(barrier)
        return function(*args, **kwargs)

    return wrapper
