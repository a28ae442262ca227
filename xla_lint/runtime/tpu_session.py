"""The recording of one process on TorchTPU: its cache's statistics, step by step. Never run on a TPU.

Nothing here raises into the user's program.
"""

from __future__ import annotations

import functools
import math
import os
import shlex
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xla_lint.runtime import exchange, tpu_cache, tpu_use
from xla_lint.runtime.places import NOWHERE, Place, frames_of, place_of
from xla_lint.runtime.steps import OptimizerSteps
from xla_lint.runtime.tpu_cache import Lookups

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

FLUSH_SECONDS = 1.0
"""How often the counts are left behind while the program makes steps."""
REMEMBERED = 1000
"""The steps that compiled, which are kept one by one."""


def prepare(asked: Mapping[str, str]) -> Callable[[], None]:
    """Before TorchTPU is imported; what is returned begins to record once it is."""
    request = exchange.Request.of(asked)
    request.folder.mkdir(exist_ok=True)
    return functools.partial(_start, request)


def _start(request: exchange.Request) -> None:
    from torch.optim.optimizer import register_optimizer_step_post_hook  # noqa: PLC0415 - only where torch is

    session = Session(request)
    register_optimizer_step_post_hook(session.optimized)
    # Before what `atexit` runs: TorchTPU may shut down there, and a process that asks it afterwards is aborted.
    threading._register_atexit(session.end)  # type: ignore[attr-defined]
    os.register_at_fork(after_in_child=session.forked)
    os._exit = _ending(session, os._exit)
    session.leave()


def _ending(session: Session, leave: Any) -> Any:
    @functools.wraps(leave)
    def _exit(status: int) -> None:
        session.end()
        leave(status)

    return _exit


class Session:
    """What this process did so far."""

    def __init__(self, request: exchange.Request) -> None:
        self._request = request
        self._cwd = str(Path.cwd())
        self._lock = threading.RLock()  # a signal's handler may end the program
        self._flushed = -math.inf
        self._steps = OptimizerSteps()
        self._before = self._warm = Lookups()
        self._late: dict[str, int] = {}
        self._problem = ""
        self._ended = False

    def forked(self) -> None:
        """A new child begins here: to ask there could be to wait for a lock that a thread of its parent held."""
        self._lock = threading.RLock()
        self._ended = True

    def optimized(self, optimizer: object, *_: object) -> None:
        """An optimizer has made a step."""
        with self._harmless(), self._lock:
            if self._ended or not tpu_cache.there():
                return
            made = self._steps.number
            self._steps.made(id(optimizer), NOWHERE if made else self._here())
            self._stepped(ends=self._steps.number > made)

    def end(self) -> None:
        """The program ends: leave the last counts. Afterwards the runtime may be gone, and is not asked again."""
        with self._harmless(), self._lock:
            if not self._ended:
                self._leave(ended=True)
        self._ended = True

    def leave(self) -> None:
        """Leave the counts as they are."""
        with self._harmless(), self._lock:
            self._leave(ended=False)

    @contextmanager
    def _harmless(self) -> Iterator[None]:
        """Whatever goes wrong in our own code is told in the report, and the program goes on."""
        try:
            yield
        except Exception as error:  # noqa: BLE001
            self._problem = f"the recording is incomplete: {type(error).__name__}: {error}"

    def _here(self) -> Place:
        own, inside = place_of(frames_of(sys._getframe(2)))
        return Place(own and own.below(self._cwd), inside)

    def _stepped(self, *, ends: bool) -> None:
        now = tpu_cache.lookups()
        number, warmup = self._steps.number, self._request.warmup
        compiled = (now - self._before).compiles
        self._before = now
        if number > warmup and compiled and len(self._late) < REMEMBERED:
            step = f"step {number}"
            self._late[step] = self._late.get(step, 0) + compiled
        if number == warmup and ends:
            self._warm = now
        if time.perf_counter() - self._flushed >= FLUSH_SECONDS:
            self._leave(ended=False)

    def _leave(self, *, ended: bool) -> None:
        self._flushed = time.perf_counter()
        now, held = Lookups(), tpu_cache.Executables()
        try:
            if tpu_cache.there():  # else torch has not come so far, or it is another vendor's package of that name
                now, held = tpu_cache.lookups(), tpu_cache.executables()
        except tpu_cache.UntoldError as error:
            self._problem = str(error)
        tpu_use.write(self._use(now, held, ended=ended), self._request.folder)

    def _use(self, now: Lookups, held: tpu_cache.Executables, *, ended: bool) -> tpu_use.CacheUse:
        steps, warmup, own = self._steps.number, self._request.warmup, self._steps.place.own
        warm = now if 0 < steps < warmup else self._warm
        late, compiles = dict(self._late), (now - warm).compiles
        if steps and compiles > sum(late.values()):
            late["the rest"] = compiles - sum(late.values())
        return tpu_use.CacheUse(
            os.getpid(),
            shlex.join(sys.orig_argv[1:]),
            ended,
            now,
            held,
            steps,
            own.file if own else "",
            own.line if own else 0,
            max(0, steps - warmup),
            compiles,
            late,
            tpu_cache.there(),
            self._problem,
        )
