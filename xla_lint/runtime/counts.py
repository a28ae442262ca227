"""The runtime's own counters, read as one value that can be subtracted."""

from __future__ import annotations

import functools
import importlib
import threading
import time
from dataclasses import dataclass, field
from typing import Any

COMPILES = ("CompileTime", "EagerOpCompileTime")
EXECUTIONS = ("ExecuteTime", "ExecuteReplicatedTime", "EagerOpExecuteTime")
READS = ("TransferFromDeviceTime",)
"""Metrics of torch_xla 2.9. In eager mode only those named Eager move; dynamo moves the others."""

SCALAR_READ = "aten::_local_scalar_dense"
"""Counted among the fallbacks, but it is how `.item()` reads."""

NANOSECONDS = 1e-9
COMPILED, KNOWN = "UncachedCompile", "CachedCompile"
"""Counters of the graphs that were looked up for execution, by whether they had to be compiled."""
STARTED = ("ExecuteComputation", "ExecuteReplicated")
"""Counters of the executions that were sent to the device, in every mode."""
SETTLING, QUIET, POLL_SECONDS = 500, 25, 0.002
"""An execution is counted a moment after it has ended: how often to ask for it at most, after how many times without a
change to give up, and how long to wait between."""


class RuntimeMissingError(ImportError):
    """torch_xla is not installed here; the text names the extra that brings it."""


@functools.cache
def runtime(module: str) -> Any:
    """A module of torch_xla.

    Raises:
        RuntimeMissingError: torch_xla, or torch below it, is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"torch", "torch_xla"}:
            raise
        raise RuntimeMissingError(
            f"counting needs {error.name}, which is not installed: pip install 'xla-lint[runtime]'"
        ) from error


@dataclass(frozen=True, slots=True)
class Counts:
    """What the device was asked to do; the difference of two of them is what happened between."""

    compiles: int = 0
    executions: int = 0
    reads: int = 0
    """Transfers from the device to the host."""
    compile_seconds: float = 0.0
    execute_seconds: float = 0.0
    """Seconds spent in executions, which may overlap with the host's work."""
    fallbacks: dict[str, int] = field(default_factory=dict)
    """Operations without a lowering, which ran on the CPU, and how often: `aten::median`."""

    def __sub__(self, before: Counts) -> Counts:
        fallbacks = {name: number - before.fallbacks.get(name, 0) for name, number in self.fallbacks.items()}
        return Counts(
            self.compiles - before.compiles,
            self.executions - before.executions,
            self.reads - before.reads,
            self.compile_seconds - before.compile_seconds,
            self.execute_seconds - before.execute_seconds,
            {name: number for name, number in fallbacks.items() if number > 0},
        )


def take() -> Counts:
    """The counts so far, since the process began.

    What was counted before the program clears torch_xla's metrics stays counted as long as somebody listens to the
    barriers. Costs 5 µs in a young process. Once 1,024 executions and as many reads are stored it costs some 200 µs,
    because the runtime hands out every stored sample with its total.

    Raises:
        RuntimeMissingError: torch_xla is not installed.
    """
    return LEDGER.counts(runtime("torch_xla.debug.metrics"))


def settled() -> Counts:
    """The counts once every execution has ended; waits for the device, and leaves pending operations pending.

    Raises:
        RuntimeMissingError: torch_xla is not installed.
    """
    runtime("torch_xla.core.xla_model").wait_device_ops()
    metrics = runtime("torch_xla.debug.metrics")
    now, quiet = take(), 0
    for _ in range(SETTLING):
        # They differ for good where an execution failed, or where dynamo cleared counters while nobody listened.
        if now.executions == LEDGER.started(metrics) or quiet == QUIET:
            break
        time.sleep(POLL_SECONDS)
        before, now = now, take()
        quiet = quiet + 1 if now.executions == before.executions else 0
    return now


def remember() -> None:
    """Take note of all numbers, right before and right after the program sets some of them back to zero."""
    metrics = runtime("torch_xla.debug.metrics")
    LEDGER.counts(metrics)
    LEDGER.started(metrics)


def compiles() -> int:
    """The graphs compiled so far: 3 µs."""
    return LEDGER.compiles(runtime("torch_xla.debug.metrics"))


def graphs() -> tuple[int, int]:
    """How many graphs were looked up for execution so far, and how many of them had to be compiled.

    Counters that move in the thread that asks, before the execution: 1 µs. torch_xla clears them when dynamo compiles:
    see `since`.
    """
    value = _counter()
    compiled = value(COMPILED) or 0
    return compiled + (value(KNOWN) or 0), compiled


def since(before: int, now: int) -> int:
    """How much a counter has moved, if it was not set back to zero between."""
    return now - before if now >= before else now


@functools.cache
def _counter() -> Any:
    """How a counter is read, without the function of torch_xla around it."""
    return runtime("torch_xla")._XLAC._xla_counter_value


class _Ledger:
    """The runtime's metrics and counters, summed over the times when something sets them back to zero."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a signal's handler may end the program and ask for the last counts
        self._seen: dict[str, float] = {}
        self._sum: dict[str, float] = {}

    def compiles(self, metrics: Any) -> int:
        with self._lock:
            return int(self._total(metrics, COMPILES)[0])

    def started(self, metrics: Any) -> int:
        with self._lock:
            return int(sum(self._add(name, metrics.counter_value(name) or 0) for name in STARTED))

    def counts(self, metrics: Any) -> Counts:
        with self._lock:
            compiles, compile_time = self._total(metrics, COMPILES)
            executions, execute_time = self._total(metrics, EXECUTIONS)
            reads, _ = self._total(metrics, READS)
            return Counts(
                int(compiles),
                int(executions),
                int(reads),
                compile_time * NANOSECONDS,
                execute_time * NANOSECONDS,
                self._fallbacks(metrics),
            )

    def _total(self, metrics: Any, names: tuple[str, ...]) -> tuple[float, float]:
        """The samples of several metrics, and the nanoseconds that they add up to."""
        samples = nanoseconds = 0.0
        for name in names:
            data = metrics.metric_data(name) or (0, 0.0)
            samples += self._add(f"{name} samples", data[0])
            nanoseconds += self._add(f"{name} nanoseconds", data[1])
        return samples, nanoseconds

    def _fallbacks(self, metrics: Any) -> dict[str, int]:
        there = {name for name in metrics.counter_names() if name.startswith("aten::") and name != SCALAR_READ}
        known = {name for name in self._sum if name.startswith("aten::")}
        totals = {name: int(self._add(name, metrics.counter_value(name) or 0)) for name in sorted(there | known)}
        return {name: number for name, number in totals.items() if number}

    def _add(self, name: str, now: float) -> float:
        grown = now - self._seen.get(name, 0)
        self._sum[name] = self._sum.get(name, 0) + (grown if grown >= 0 else now)
        self._seen[name] = now
        return self._sum[name]


LEDGER = _Ledger()
