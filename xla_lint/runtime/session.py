"""The recording of one process that `xla-lint run` started: what it does is left in a folder, from time to time.

Only the standard library and torch_xla are used here, and nothing here raises into the user's program.
"""

from __future__ import annotations

import atexit
import functools
import os
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from xla_lint.runtime import barriers, counts, debugfile, exchange
from xla_lint.runtime.places import here, own
from xla_lint.runtime.ran import Ran
from xla_lint.runtime.reading import Kernels, asked
from xla_lint.runtime.timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from xla_lint.runtime.barriers import Barrier
    from xla_lint.runtime.places import Frame

FLUSH_SECONDS = 1.0
"""How often the state is left behind while the program runs."""
QUIET_STEPS = 8
"""After so many steps without a compile, operations no longer note the line that built them."""
XLA_FLAGS, DUMP = "XLA_FLAGS", "--xla_dump_to"
IR_DEBUG = ("XLA_IR_DEBUG", "XLA_HLO_DEBUG")


def prepare(asked: Mapping[str, str]) -> Callable[[], None]:
    """Before torch_xla is imported: choose where the runtime writes its records and its graphs.

    What is returned begins to record, once torch_xla is imported. `asked` is what `xla-lint run` asks for.
    """
    request = exchange.Request.of(asked)
    folder = request.folder
    folder.mkdir(exist_ok=True)  # not its parents: once the run is over, nobody collects
    if not os.environ.get(debugfile.FILE) or _inherited(os.environ[debugfile.FILE], request):
        os.environ[debugfile.FILE] = str(folder / exchange.DEBUG_LOG)
    if not any(os.environ.get(name) for name in (debugfile.LEVEL, debugfile.OLD_LEVEL)):
        os.environ[debugfile.LEVEL] = debugfile.EVERYTHING
    os.environ.setdefault(debugfile.FRAMES, debugfile.ENOUGH_FRAMES)
    flags = [flag for flag in os.environ.get(XLA_FLAGS, "").split(" ") if not _inherited(flag, request)]
    if not any(flag.startswith(DUMP) for flag in flags):
        flags.append(f"{DUMP}={folder / exchange.GRAPHS}")
    os.environ[XLA_FLAGS] = " ".join(flags)
    return functools.partial(_start, request)


def _start(request: exchange.Request) -> None:
    session = Session(request)
    barriers.listen(session.reached)
    barriers.before_each(session.ready)
    Kernels(session.read, session.ready)
    atexit.register(session.end)
    os.register_at_fork(after_in_child=session.forked)
    os._exit = _ending(session, os._exit)


def _inherited(text: str, request: exchange.Request) -> bool:
    """True where something names a path that the recording of another process chose."""
    return str(request.run) in text


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
        self._warmup = request.warmup
        self._user_traces = any(os.environ.get(name, "0") != "0" for name in IR_DEBUG)
        self._trace(on=True)
        self._debug = debugfile.Variables()
        self._debug_offset = self._debug.size()
        self._forked = False
        self._ran = Ran()
        if request.lines:
            self._ran.start()
        self._begin_again()

    def _begin_again(self) -> None:
        self._lock = threading.RLock()
        self._pid = os.getpid()
        self._began = self._flushed = time.perf_counter()
        self._reads: dict[tuple[Frame | None, str], exchange.ReadsAt] = {}
        self._barriers: dict[Frame | None, exchange.BarriersAt] = {}
        self._timeline = Timeline()
        self._steps = 0
        self._quiet = 0
        self._placed_reads = 0
        self._reads_before = 0
        self._warm: counts.Counts | None = counts.Counts() if not self._warmup else None
        self._used = False
        self._executed = False
        self._problem = ""

    def forked(self) -> None:
        """A new child begins here. It leaves nothing behind unless it uses the device itself."""
        self._forked = True
        self._begin_again()
        if _inherited(self._debug.file, self._request):
            os.environ[debugfile.FILE] = str(self._request.folder / exchange.DEBUG_LOG)
            self._debug = debugfile.Variables()

    def ready(self) -> None:
        """Something may be executed now."""
        if not self._executed:
            with self._harmless():
                self._executed = bool(counts.graphs()[0])
                if not self._executed:
                    self._debug.ready()

    def read(self, kind: str, pending: bool, seconds: float) -> None:
        """The host has read from the device."""
        with self._harmless(), self._lock:
            place, how = asked(kind)
            self._used = True
            self._placed_reads += 1
            row = self._reads.setdefault((place, how), exchange.ReadsAt(place, how))
            row.pending += pending
            row.late += not pending
            row.seconds += seconds
            self._flush_now_and_then()

    def reached(self, barrier: Barrier) -> None:
        """A barrier has returned."""
        with self._harmless(), self._lock:
            place = own(here())
            self._used = True
            row = self._barriers.setdefault(place, exchange.BarriersAt(place))
            row.number += 1
            row.seconds += barrier.seconds
            if barrier.executed:
                self._step(barrier)
            self._flush_now_and_then()

    def end(self) -> None:
        """The program ends: leave the last state, with every execution in it."""
        if self._pid == os.getpid() and self._used_device():
            with self._harmless(), self._lock:
                self._leave(counts.settled(), ended=True)

    @contextmanager
    def _harmless(self) -> Iterator[None]:
        """Whatever goes wrong in our own code is noted in the report, and the program goes on."""
        try:
            yield
        except Exception as error:  # noqa: BLE001
            self._problem = f"the recording is incomplete: {type(error).__name__}: {error}"

    def _step(self, barrier: Barrier) -> None:
        self._steps += 1
        if self._steps == self._warmup:
            self._warm = counts.settled()
        now = barrier.began + barrier.seconds - self._began
        self._timeline.add(now, barrier.compiled, barrier.executed, self._placed_reads - self._reads_before)
        self._reads_before = self._placed_reads
        self._quiet = 0 if barrier.compiled else self._quiet + 1
        if self._quiet in {0, QUIET_STEPS}:
            self._trace(on=not self._quiet)

    def _trace(self, *, on: bool) -> None:
        """Let operations note the Python line that builds them, or not; the user's own wish stands."""
        if not self._user_traces:
            counts.runtime("torch_xla")._XLAC._set_ir_debug(on)

    def _used_device(self) -> bool:
        if self._used or self._forked:  # a forked process has inherited what its parent counted
            return self._used
        now = counts.take()
        return bool(now.compiles or now.executions)

    def _flush_now_and_then(self) -> None:
        if time.perf_counter() - self._flushed >= FLUSH_SECONDS:
            self._leave(counts.take(), ended=False)

    def _leave(self, now: counts.Counts, *, ended: bool) -> None:
        self._flushed = time.perf_counter()
        notes = []
        if int(os.environ.get("PJRT_LOCAL_PROCESS_RANK", "0")):
            notes.append("counted, not placed: torch_xla writes records in the first process of a host only")
        exchange.write(
            exchange.State(
                self._pid,
                list(sys.orig_argv[1:]),
                self._flushed - self._began,
                ended,
                now,
                self._warm,
                self._steps,
                self._warmup,
                max(0, now.reads - self._placed_reads),
                self._debug.file,
                self._debug_offset,
                self._debug.level,
                notes,
                [self._problem] if self._problem else [],
                list(self._reads.values()),
                list(self._barriers.values()),
                self._timeline.entries,
                self._ran.lines(),
            ),
            self._request.folder,
        )
