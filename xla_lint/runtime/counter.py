"""Counting in code: `CompileCounter`, and `assert_max_compiles` on top of it."""

from __future__ import annotations

from contextlib import ContextDecorator
from typing import TYPE_CHECKING, NamedTuple

from xla_lint.runtime import barriers
from xla_lint.runtime.counts import Counts, settled, take
from xla_lint.runtime.meters import meter

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from xla_lint.runtime.barriers import Barrier
    from xla_lint.runtime.meters import Meter


class TooManyCompilesError(AssertionError):
    """More was compiled than the program allows itself; the text names the lines, where they are known."""


class Step(NamedTuple):
    """What was compiled and executed from one barrier to the next, in the thread of the barrier."""

    compiles: int
    executions: int


class CompileCounter:
    """Counts what happens while it is open.

        with CompileCounter() as counter:
            train(model, loader)
        assert counter.counts.compiles <= 2

    Counters can be nested; they cost some microseconds at a barrier and nothing between. At its end a counter
    waits until the device has done what was sent to it, so that the executions are complete. Work still pending then
    is not counted.

    Raises:
        RuntimeMissingError: on entry, where torch_xla is not installed.
    """

    def __init__(self) -> None:
        self.steps: list[Step] = []
        """The steps so far: one for every barrier before which something was executed."""
        self._begin = Counts()
        self._end: Counts | None = None

    def __enter__(self) -> Self:
        self._begin = settled()
        self._end = None
        self.steps = []
        barriers.listen(self._reached)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        barriers.ignore(self._reached)
        self._end = settled()

    @property
    def counts(self) -> Counts:
        """What has happened since the counter was opened; once it is closed, until then."""
        return (self._end or take()) - self._begin

    def _reached(self, barrier: Barrier) -> None:
        if barrier.executed:
            self.steps.append(Step(barrier.compiled, barrier.executed))


class assert_max_compiles(ContextDecorator):  # noqa: N801 - reads as the statement that it is
    """Raise `TooManyCompilesError` if more than `limit` graphs are compiled, not counting the first `after` steps.

        with assert_max_compiles(0, after=2):
            for batch in loader:
                train_step(batch)

    As a decorator, it counts from the function's first call to the end of each call, and what is compiled between
    the calls belongs to them; a call without a barrier of its own is one step. Work that is still pending at the end
    has not been compiled and does not count.

    Where the program has loaded TorchTPU and not torch_xla, it counts what TorchTPU's cache had to compile, and a step
    is one of an optimizer; which lines compile is not known there. That was never run on a TPU.

    Raises:
        ValueError: `limit` or `after` is negative.
        RuntimeMissingError: on entry, where torch_xla is not installed.
        UntoldError: on entry, where this release of TorchTPU has no statistics.
    """

    def __init__(self, limit: int, *, after: int = 0) -> None:
        if limit < 0 or after < 0:
            raise ValueError("neither the number of compiles nor that of steps can be negative")
        self._limit = limit
        self._after = after
        self._steps = 0
        self._meter: Meter | None = None
        self._warm: int | None = None
        self._steps_before = 0

    def __enter__(self) -> Self:
        if self._meter is None:
            self._meter = meter(self._step)
            if not self._after:
                self._warm = self._meter.settled()
        self._steps_before = self._steps
        self._meter.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        __tracebackhide__ = True  # pytest then shows the test's own line
        meter = self._entered
        meter.close()
        if self._steps == self._steps_before:
            self._step()
        if error is not None or self._warm is None:
            return
        compiles = meter.compiles() - self._warm
        if compiles > self._limit:
            raise TooManyCompilesError(self._message(compiles))

    def _recreate_cm(self) -> Self:
        return self

    @property
    def _entered(self) -> Meter:
        assert self._meter is not None, "it was never entered"
        return self._meter

    def _step(self) -> None:
        self._steps += 1
        if self._steps == self._after:
            self._warm = self._entered.compiles()
            self._entered.forget()

    def _message(self, compiles: int) -> str:
        graphs = "1 graph was" if compiles == 1 else f"{compiles} graphs were"
        warm = f" after the first {self._after} steps" if self._after else ""
        rows = [f"  {line}" for line in self._entered.told(compiles)]
        return "\n".join([f"{graphs} compiled{warm}, {self._limit} allowed:", *rows])
