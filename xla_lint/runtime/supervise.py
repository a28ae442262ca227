"""Running a program under observation. It is a child of ours, so that whatever ends it leaves us the report."""

from __future__ import annotations

import contextlib
import functools
import math
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from xla_lint.runtime import debugfile, exchange
from xla_lint.runtime.collect import Collector
from xla_lint.runtime.findings import Linted
from xla_lint.runtime.live import Live
from xla_lint.runtime.program import command_of
from xla_lint.runtime.strays import Strays
from xla_lint.runtime.summary import ENDED_WELL, summarise

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType

    from xla_lint.runtime.summary import Summary

POLL_SECONDS = 0.2
LOOK_SECONDS = 1.0
"""How often to look for processes that are not recorded. To import torch_xla takes longer than that."""
PATIENCE_SECONDS = 5.0
"""How long a program that is asked to end may take."""
BOOTSTRAP = Path(__file__).parent / "bootstrap"
STDERR = 2
"""The file descriptor."""
GOES_ON = "goes on"
FORWARDED = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a program did, and how it ended."""

    status: int
    """Its exit status; minus the signal's number where a signal ended it, as in `subprocess`."""
    summary: Summary


class Listener(Protocol):
    """Who is told of a program while it runs."""

    def compiled(self, sentence: str) -> None:
        """The program has compiled something although it is warm."""

    def asked(self, summary: Summary) -> None:
        """Somebody has sent SIGUSR1, to hear what happened so far."""


def supervise(
    arguments: Sequence[str],
    warmup: int,
    *,
    listener: Listener | None = None,
    lines: bool = False,
    silent: bool = False,
    limit: float | None = None,
) -> Outcome:
    """Run what `arguments` name, as `program.command_of` says, unchanged but for its environment, until it ends.

    `lines` has it note the lines that run, at some cost before Python 3.12. `silent` takes its standard streams away.
    After `limit` seconds it is terminated.

    Raises:
        OSError: the interpreter cannot be started.
    """
    with tempfile.TemporaryDirectory(prefix="xla-lint-run-") as name:
        request = exchange.Request(Path(name), warmup, lines)
        collector = Collector(request.run, echo=_wanted_records())
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL if silent else None)
        child = subprocess.Popen(command_of(arguments), env=_environment(request), **streams)
        strays = Strays(child.pid, request.run)
        linted = Linted()

        def summary(how: str, *, ended: bool) -> Summary:
            recording = collector.recording(ended=ended)
            recording.unseen.update(strays.found)
            return summarise(recording, linted, command=named(arguments), ended=how, warmup=warmup)

        watched = _Watched(listener, collector, functools.partial(summary, GOES_ON, ended=False)) if listener else None
        before = _forward_signals(child, watched)
        try:
            status = _wait(child, collector, strays, math.inf if limit is None else limit, watched)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        return Outcome(status, summary(_ended(status), ended=True))


class _Watched:
    """Tells a listener what it wants to hear, as soon as it is known."""

    def __init__(self, listener: Listener, collector: Collector, so_far: Callable[[], Summary]) -> None:
        self._listener = listener
        self._collector = collector
        self._so_far = so_far
        self._live = Live()
        self.asked = False
        """True where a summary is asked for."""

    def look(self) -> None:
        """Something may be new."""
        for sentence in self._live.new(self._collector.processes):
            self._listener.compiled(sentence)
        if self.asked:
            self.asked = False
            self._listener.asked(self._so_far())


def named(arguments: Sequence[str]) -> str:
    """What the reports call a program: its command line."""
    python = [] if Path(arguments[0]).name == Path(command_of(arguments)[0]).name else ["python"]
    return shlex.join([*python, *arguments])


def end_like(status: int) -> int:
    """The exit status to return for that of the program; where a signal ended it, the same signal ends us."""
    if status >= 0:
        return status
    sys.stdout.flush()
    sys.stderr.flush()
    if -status not in {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(-status, signal.SIG_DFL)
    import resource  # noqa: PLC0415 - POSIX, as signals that end a program are

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.kill(os.getpid(), -status)
    return 128 - status


def _wait(
    child: subprocess.Popen[bytes], collector: Collector, strays: Strays, limit: float, watched: _Watched | None
) -> int:
    began = looked = time.monotonic()
    while child.poll() is None:
        collector.poll()
        if watched is not None:
            watched.look()
        if time.monotonic() - looked > LOOK_SECONDS:
            strays.look()
            looked = time.monotonic()
        if time.monotonic() - began > limit:
            child.terminate()
        if time.monotonic() - began > limit + PATIENCE_SECONDS:
            child.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(POLL_SECONDS)
    return int(child.returncode)


def _environment(request: exchange.Request) -> dict[str, str]:
    path = os.environ.get("PYTHONPATH")
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(BOOTSTRAP), *([path] if path else [])]),
        **request.variables,
    }


def _wanted_records() -> int | None:
    """Standard error, where the user has asked the runtime for records and named no file for them."""
    return STDERR if debugfile.asked_for() and not os.environ.get(debugfile.FILE) else None


def _forward_signals(child: subprocess.Popen[bytes], watched: _Watched | None) -> dict[int, signal._HANDLER]:
    """Hand signals on to the child. Ctrl-C on a terminal reaches it by itself; SIGUSR1 would end most programs."""

    def forward(number: int, _: FrameType | None) -> None:
        child.send_signal(number)

    def summarise_now(number: int, _: FrameType | None) -> None:
        assert watched is not None
        watched.asked = True
        if _catches(child.pid, number):
            child.send_signal(number)

    def interrupt(number: int, _: FrameType | None) -> None:
        if not _in_foreground():
            child.send_signal(number)

    handlers = {getattr(signal, name): forward for name in FORWARDED if hasattr(signal, name)}
    handlers[signal.SIGINT] = interrupt
    if watched is not None and hasattr(signal, "SIGUSR1"):
        handlers[signal.SIGUSR1] = summarise_now
    return {number: signal.signal(number, handler) for number, handler in handlers.items()}


def _catches(pid: int, number: int) -> bool:
    """True where a process has a handler for a signal; False where the system does not tell."""
    with contextlib.suppress(OSError):
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
        caught = next((line for line in status.splitlines() if line.startswith("SigCgt:")), "SigCgt: 0")
        return bool(int(caught.split()[1], 16) >> (number - 1) & 1)
    return False


def _in_foreground() -> bool:
    """True where the terminal sends its signals to our process group."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    finally:
        os.close(terminal)


def _ended(status: int) -> str:
    if status < 0:
        return f"was ended by {signal.Signals(-status).name}"
    return ENDED_WELL if status == 0 else f"ended with exit status {status}"
