"""The recorder of a process on simulated streams of barriers, reads and steps: without torch."""

from __future__ import annotations

import resource
import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from xla_lint.runtime import counts, exchange
from xla_lint.runtime.barriers import Barrier
from xla_lint.runtime.counts import Counts
from xla_lint.runtime.session import Session

if TYPE_CHECKING:
    from pathlib import Path

MILLION = 1_000_000
KILOBYTES = 4096
"""What a million steps may add to the memory of a process."""


class Runtime:
    """What torch_xla counts."""

    graphs = 0
    executed = 0

    def counts(self) -> Counts:
        return Counts(1, self.executed)


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Runtime:
    simulated = Runtime()
    extension = SimpleNamespace(_set_ir_debug=lambda _: None)
    module = SimpleNamespace(_XLAC=extension, device_type=lambda: "CPU")
    monkeypatch.setattr(counts, "runtime", lambda _: module)
    monkeypatch.setattr(counts, "graphs", lambda: (simulated.graphs, 1))
    monkeypatch.setattr(counts, "compiles", lambda: 1)
    monkeypatch.setattr(counts, "take", simulated.counts)
    monkeypatch.setattr(counts, "settled", simulated.counts)
    return simulated


def barrier(number: int) -> Barrier:
    return Barrier(float(number), 0.001, 0, 1, int(number == 1), number)


def left(session: Session, folder: Path) -> exchange.State:
    session.end()
    (state,) = [state for path in folder.iterdir() if (state := exchange.read(path)) is not None]
    return state


def test_a_million_steps_in_bounded_memory(runtime: Runtime, tmp_path: Path) -> None:
    session, optimizer = Session(exchange.Request(tmp_path, 3, lines=False)), object()
    memory = []

    def train() -> None:
        for number in range(1, MILLION + 1):
            session.optimized(optimizer)
            session.reached(barrier(number))
            if number % 10 == 0:
                session.read("value", pending=False, seconds=0.001)
            if number % (MILLION // 50) == 0:
                memory.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)

    thread = threading.Thread(target=train)  # its stack has few frames to walk
    thread.start()
    thread.join()
    assert memory[-1] - memory[0] < KILOBYTES
    runtime.graphs = runtime.executed = MILLION
    state = left(session, tmp_path)
    assert (state.steps, state.optimizer_steps) == (MILLION, MILLION)
    assert sum(steps.executions for steps in state.timeline) == MILLION
    assert [(row.late, row.pending) for row in state.reads] == [(MILLION // 10, 0)]
    assert state.problems == []


def test_the_last_step_is_counted_though_its_execution_came_late(runtime: Runtime, tmp_path: Path) -> None:
    session = Session(exchange.Request(tmp_path, 3, lines=False))
    for number in range(1, 9):
        runtime.graphs, runtime.executed = number, number - 1  # the device is one behind
        session.reached(barrier(number))
    runtime.graphs = runtime.executed = 10  # two graphs ran after the last barrier
    state = left(session, tmp_path)
    assert state.last is not None
    assert state.last.executions == 8


def test_a_step_is_counted_where_the_counters_began_anew(runtime: Runtime, tmp_path: Path) -> None:
    session = Session(exchange.Request(tmp_path, 3, lines=False))
    for number in range(1, 9):
        session.reached(barrier(number))
    runtime.graphs, runtime.executed = 2, 10  # dynamo has cleared the counters, and not the metrics
    state = left(session, tmp_path)
    assert state.last is not None
    assert state.last.executions == 8


def test_an_error_of_the_recorder_reaches_no_program(
    runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session(exchange.Request(tmp_path, 3, lines=False))
    monkeypatch.setattr(session, "_cut", None)
    session.reached(barrier(1))
    runtime.graphs = runtime.executed = 1
    (problem,) = left(session, tmp_path).problems
    assert problem.startswith("the recording is incomplete: TypeError: ")
