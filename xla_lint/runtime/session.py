"""The recording of one process that `xla-lint run` started: what it does is left in a folder, from time to time.

Only the standard library and torch_xla are used here, and nothing here raises into the user's program.
"""

from __future__ import annotations

import atexit
import functools
import math
import os
import re
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xla_lint.runtime import barriers, counts, debugfile, exchange
from xla_lint.runtime.cells import cells
from xla_lint.runtime.debugfile import DUMP, XLA_FLAGS
from xla_lint.runtime.eager import eagerly
from xla_lint.runtime.places import NOWHERE, Place, frames_of, place_of
from xla_lint.runtime.ran import Ran
from xla_lint.runtime.reading import Kernels, asked
from xla_lint.runtime.steps import BARRIER, OPTIMIZER, READ, OptimizerSteps, Turns
from xla_lint.runtime.timeline import Timeline
from xla_lint.runtime.watched import Known

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping
    from types import FrameType

    from xla_lint.runtime.barriers import Barrier

FLUSH_SECONDS, FLUSH_PART = 1.0, 0.005
"""How often the state is left behind while the program runs; less often where that would take more of its time."""
QUIET_STEPS = 8
"""After so many steps without a compile, operations no longer note the line that built them."""
REMEMBERED = 2000
"""The moments of compiling that are kept one by one."""
MANNERS = ("value", "fallback", "copy", "save")
"""How the kernels that are watched read."""
DUMP_FORMS = ("--xla_dump_hlo_as_text", "--xla_dump_hlo_as_proto")
"""The text has the operations, the protocol buffer their whole stacks."""
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
    flags = _without_own(os.environ.get(XLA_FLAGS, ""), request)
    if DUMP not in flags:
        flags = " ".join([flags, f'{DUMP}="{folder / exchange.GRAPHS}"', *DUMP_FORMS])
    os.environ[XLA_FLAGS] = flags.strip()
    return functools.partial(_start, request)


def _start(request: exchange.Request) -> None:
    session = Session(request)
    barriers.listen(session.reached)
    barriers.before_each(session.ready)
    Kernels(session)
    eagerly(session.eager)
    _after_optimizer_steps(session.optimized)
    session.leave()
    atexit.register(session.end)
    os.register_at_fork(after_in_child=session.forked)
    os._exit = _ending(session, os._exit)


def _after_optimizer_steps(call: Callable[[object, object, object], None]) -> None:
    from torch.optim.optimizer import register_optimizer_step_post_hook  # noqa: PLC0415 - only where torch is

    register_optimizer_step_post_hook(call)


def _without_own(flags: str, request: exchange.Request) -> str:
    """Flags without those that the recording of another process added; the user's may hold quoted blanks."""
    return re.sub(rf'\s*{DUMP}="{re.escape(str(request.run))}[^"]*"', "", flags)


def _inherited(text: str, request: exchange.Request) -> bool:
    """True where something names a path that the recording of another process chose."""
    return str(request.run) in text


def _ending(session: Session, leave: Any) -> Any:
    @functools.wraps(leave)
    def _exit(status: int) -> None:
        session.end()
        leave(status)

    return _exit


class _Harmless:
    """Whatever goes wrong in our own code is noted in the report, and the program goes on; one thread at a time."""

    def __init__(self) -> None:
        self.problem = ""
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> bool:
        self._lock.release()
        if isinstance(error, Exception):
            self.problem = f"the recording is incomplete: {kind.__name__ if kind else ''}: {error}"
            return True
        return False


class Session:
    """What this process did so far."""

    def __init__(self, request: exchange.Request) -> None:
        self._request = request
        self._cwd = str(Path.cwd())
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
        self._harmless = _Harmless()
        self._pid = os.getpid()
        self._began = time.perf_counter()
        self._flush_at = -math.inf
        self._places = Known(self._place)
        self._barriers_here = Known(self._barrier_at)
        self._reads_here = {kind: Known(functools.partial(self._read_at, kind)) for kind in MANNERS}
        self._reads: dict[tuple[Place, str], exchange.ReadsAt] = {}
        self._barriers: dict[Place, exchange.BarriersAt] = {}
        self._compiled: list[exchange.CompiledAt] = []
        self._compile_seconds = 0.0
        self._timeline = Timeline()
        self._turns, self._read_turns, self._optimizers = Turns(), Turns(), OptimizerSteps()
        self._cuts = self._quiet = self._moved = self._most_moved = 0
        self._placed_reads = self._reads_before = 0
        self._warm: dict[str, counts.Counts] = {}
        self._last: dict[str, tuple[int, int]] = {}
        """The graphs and the reads when the last step ended, by what steps are counted."""
        self._eager: Place | None = None
        self._cells: dict[str, exchange.Source] = {}
        self._used = False
        self._executed = False

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
            with self._harmless:
                self._executed = bool(counts.graphs()[0])
                if not self._executed:
                    self._debug.ready()

    def moved(self) -> None:
        """A tensor goes to the device."""
        self._moved += 1
        if self._quiet >= QUIET_STEPS and self._moved > self._most_moved:  # something new is being built
            self._quiet = 0
            self._trace(on=True)

    def optimized(self, optimizer: object, *_: object) -> None:
        """An optimizer has made a step."""
        with self._harmless:
            place = self._places.here(2)[1] if self._optimizers.place == NOWHERE else NOWHERE
            self._optimizers.made(id(optimizer), place)
            if not self._cuts:
                self._step(OPTIMIZER, self._optimizers.number, counts.graphs()[0])

    def eager(self) -> None:
        """Eager mode is switched on."""
        with self._harmless:
            self._eager = self._eager or self._places.here(2)[1]

    def read(self, kind: str, pending: bool, seconds: float) -> None:
        """The host has read from the device."""
        with self._harmless:
            key, row = self._reads_here[kind].here(2)
            self._used = True
            self._placed_reads += 1
            row.pending += pending
            row.late += not pending
            row.seconds += seconds
            if pending:
                self._note_compiles()
            if not self._cuts and self._read_turns.passes(key, row.place):
                self._step(READ, self._read_turns.number, counts.graphs()[0])
            self._leave_now_and_then(time.perf_counter())

    def reached(self, barrier: Barrier) -> None:
        """A barrier has returned."""
        with self._harmless:
            key, row = self._barriers_here.here(2)
            self._used = True
            row.number += 1
            row.seconds += barrier.seconds
            if barrier.compiled:
                self._note_compiles()
            if barrier.executed:
                self._cut(barrier, key, row.place)
            self._leave_now_and_then(barrier.began + barrier.seconds)

    def end(self) -> None:
        """The program ends: leave the last state, with every execution in it."""
        if self._pid == os.getpid() and self._used_device():
            with self._harmless:
                self._used = True
                self._leave(counts.settled(), ended=True)

    def leave(self) -> None:
        """Leave the state as it is."""
        with self._harmless:
            self._leave(counts.take(), ended=False)

    def _place(self, innermost: FrameType) -> Place:
        own, inside = place_of(frames_of(innermost))
        return Place(own and own.below(self._cwd), inside and inside.below(self._cwd))

    def _barrier_at(self, innermost: FrameType) -> exchange.BarriersAt:
        """The row of a barrier's line, which the stacks that lead there share."""
        place = self._place(innermost)
        return self._barriers.setdefault(place, exchange.BarriersAt(place))

    def _read_at(self, kind: str, innermost: FrameType) -> exchange.ReadsAt:
        place, how = self._place(innermost), asked(innermost, kind)
        return self._reads.setdefault((place, how), exchange.ReadsAt(place, how))

    def _cut(self, barrier: Barrier, key: Hashable, place: Place) -> None:
        """A barrier before which something was executed."""
        self._cuts += 1
        self._optimizers.cut()
        self._quiet = 0 if barrier.compiled else self._quiet + 1
        self._most_moved, self._moved = max(self._most_moved, self._moved) if self._quiet else 0, 0
        if self._quiet in {0, QUIET_STEPS}:
            self._trace(on=not self._quiet)
        now = barrier.began + barrier.seconds - self._began
        ends = self._turns.passes(key, place)
        reads = self._placed_reads - self._reads_before
        self._timeline.add(now, barrier.compiled, barrier.executed, reads, ends=ends)
        self._reads_before = self._placed_reads
        if ends:
            self._step(BARRIER, self._turns.number, barrier.graphs)

    def _step(self, kind: str, number: int, graphs: int) -> None:
        """A step has ended, if steps are counted so."""
        if number == self._request.warmup:
            self._warm[kind] = counts.settled() if kind == BARRIER else counts.take()
        if number >= self._request.warmup:
            self._last[kind] = graphs, self._placed_reads

    def _at_last_step(self, kind: str, now: counts.Counts) -> counts.Counts | None:
        """The executions and reads when the last step ended: those of now without what came after it.

        An execution is counted a moment after it was asked for, so that the number at the time would lack the last one.
        """
        if kind not in self._last:
            return None
        graphs, reads = self._last[kind]
        return counts.Counts(executions=now.executions - counts.since(graphs, counts.graphs()[0]), reads=reads)

    def _note_compiles(self) -> None:
        """Take note of what was compiled since the last time."""
        upto = counts.compiles()
        if upto == (self._compiled[-1].upto if self._compiled else 0) or len(self._compiled) >= REMEMBERED:
            return
        before, self._compile_seconds = self._compile_seconds, counts.take().compile_seconds
        step = self._turns.number or self._read_turns.number
        at = time.perf_counter() - self._began
        seconds = self._compile_seconds - before
        self._compiled.append(exchange.CompiledAt(upto, step, at, seconds, self._optimizers.since))

    def _trace(self, *, on: bool) -> None:
        """Let operations note the Python lines that build them, or not; the user's own wish stands."""
        if not self._user_traces:
            counts.runtime("torch_xla")._XLAC._set_ir_debug(on)

    def _used_device(self) -> bool:
        if self._used or self._forked:  # a forked process has inherited what its parent counted
            return self._used
        now = counts.take()
        return bool(now.compiles or now.executions)

    def _leave_now_and_then(self, now: float) -> None:
        if now >= self._flush_at:
            self._leave(counts.take(), ended=False)
            after = time.perf_counter()
            self._flush_at = after + max(FLUSH_SECONDS, (after - now) / FLUSH_PART)

    def _leave(self, now: counts.Counts, *, ended: bool) -> None:
        """Leave the state behind."""
        step, number, place = self._counted_by()
        rank = int(os.environ.get("PJRT_LOCAL_PROCESS_RANK", "0"))
        places = [*(row.place for row in self._reads.values()), *self._barriers]
        self._cells.update(cells(place.own.file for place in places if place.own))
        exchange.write(
            exchange.State(
                pid=self._pid,
                arguments=list(sys.orig_argv[1:]),
                cwd=self._cwd,
                at=time.perf_counter() - self._began,
                ended=ended,
                used=self._used,
                counts=now,
                warm=counts.Counts() if not self._request.warmup else self._warm.get(step),
                last=self._at_last_step(step, now),
                steps=number,
                step=step,
                step_place=place,
                warm_steps=self._request.warmup,
                barriers=self._cuts,
                optimizer_steps=self._optimizers.number,
                optimizer_place=self._optimizers.place,
                unattributed_reads=max(0, now.reads - self._placed_reads),
                device=counts.runtime("torch_xla.runtime").device_type() or "" if self._used else "",
                debug_file=self._debug.file,
                debug_offset=self._debug_offset,
                level=self._debug.level,
                eager=self._eager,
                notes=[exchange.NO_RECORDS] if rank else [],
                problems=[self._harmless.problem] if self._harmless.problem else [],
                reads=list(self._reads.values()),
                barriers_at=list(self._barriers.values()),
                compiled=self._compiled,
                timeline=self._timeline.entries,
                cells=self._cells,
                ran=self._ran.lines(),
            ),
            self._request.folder,
        )

    def _counted_by(self) -> tuple[str, int, Place]:
        """By what steps are counted, how many there were, and where one ends."""
        if self._cuts:
            return BARRIER, self._turns.number, self._turns.place
        if self._optimizers.number:
            return OPTIMIZER, self._optimizers.number, self._optimizers.place
        number = self._read_turns.number
        return (READ, number, self._read_turns.place) if number else ("", 0, NOWHERE)
