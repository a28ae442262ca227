"""What a budget counts with: torch_xla's metrics, barriers and records, or the statistics of TorchTPU's cache."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Protocol

from xla_lint.runtime import barriers, tpu_cache
from xla_lint.runtime.counts import settled, take
from xla_lint.runtime.explained import Compiled, Explained
from xla_lint.runtime.places import here, own

if TYPE_CHECKING:
    from collections.abc import Callable

    from xla_lint.runtime.barriers import Barrier


class Meter(Protocol):
    """The compiles so far, and when a step ends."""

    def settled(self) -> int:
        """The compiles of everything that was sent to the device."""
        ...

    def compiles(self) -> int:
        """The compiles so far."""
        ...

    def open(self) -> None:
        """Tell of each step, until `close`."""
        ...

    def close(self) -> None:
        """Tell of no more steps."""
        ...

    def forget(self) -> None:
        """Leave what was compiled so far out of what `told` says."""
        ...

    def told(self, compiles: int) -> list[str]:
        """What is known about so many compiles, a line each."""
        ...


def meter(stepped: Callable[[], None]) -> Meter:
    """The one for the backend that the program has loaded; torch_xla's where that is none or both.

    Raises:
        UntoldError: it is a release of TorchTPU that has no statistics.
    """
    return TpuMeter(stepped) if tpu_cache.chosen() else XlaMeter(stepped)


class XlaMeter:
    """A step ends at a barrier before which something was executed."""

    def __init__(self, stepped: Callable[[], None]) -> None:
        self._stepped = stepped
        self._explained = Explained.begin()
        self._lines: Counter[str] = Counter()
        self._why: dict[str, str] = {}

    def settled(self) -> int:
        """As `Meter` says; this one waits for the device."""
        return settled().compiles

    def compiles(self) -> int:
        """As `Meter` says."""
        return take().compiles

    def open(self) -> None:
        """As `Meter` says."""
        barriers.listen(self._reached)

    def close(self) -> None:
        """As `Meter` says."""
        barriers.ignore(self._reached)

    def forget(self) -> None:
        """As `Meter` says."""
        self._read_lines()
        self._lines.clear()

    def told(self, compiles: int) -> list[str]:
        """The lines that compiled, and what differs."""
        self._read_lines()
        rows = [f"{line}{times(number)}{self._because(line)}" for line, number in self._lines.items()]
        elsewhere = compiles - sum(self._lines.values()) if self._explained is None else 0
        if elsewhere > 0:
            rows.append(
                f"not at a barrier{times(elsewhere)}; for the line, set PT_XLA_DEBUG_LEVEL=1 and PT_XLA_DEBUG_FILE "
                "before the program starts"
            )
        return rows

    def _reached(self, barrier: Barrier) -> None:
        if self._explained is None and barrier.compiles:
            self._lines[Compiled(own(here()), "barrier", "").where] += barrier.compiles
        if barrier.executed:
            self._stepped()

    def _read_lines(self) -> None:
        for compiled in self._explained.new() if self._explained is not None else ():
            self._lines[compiled.where] += 1
            self._why[compiled.where] = compiled.why or self._why.get(compiled.where, "")

    def _because(self, line: str) -> str:
        why = self._why.get(line)
        return f", because {why}" if why else ""


class TpuMeter:
    """A step ends with one of an optimizer. Never run on a TPU."""

    def __init__(self, stepped: Callable[[], None]) -> None:
        self._stepped = stepped
        self._seen = self.compiles()
        self._steps = 0
        self._compiled: Counter[int] = Counter()
        self._hooks: list[Any] = []

    def settled(self) -> int:
        """As `Meter` says: what is not compiled yet was asked for all the same, and counts."""
        return self.compiles()

    def compiles(self) -> int:
        """As `Meter` says."""
        return tpu_cache.lookups().compiles

    def open(self) -> None:
        """As `Meter` says."""
        from torch.optim.optimizer import register_optimizer_step_post_hook  # noqa: PLC0415 - only where torch is

        self._hooks.append(register_optimizer_step_post_hook(self._reached))

    def close(self) -> None:
        """As `Meter` says."""
        self._hooks.pop().remove()

    def forget(self) -> None:
        """As `Meter` says."""
        self._note()
        self._compiled.clear()

    def told(self, compiles: int) -> list[str]:
        """The steps that compiled, and that no lines are known."""
        self._note()
        steps = [f"in step {step} of an optimizer{times(number)}" for step, number in self._compiled.items()]
        return [*(steps if self._steps else []), tpu_cache.UNKNOWN, tpu_cache.UNTRIED]

    def _reached(self, *_: object) -> None:
        self._note()
        self._steps += 1
        self._stepped()

    def _note(self) -> None:
        now = self.compiles()
        if now > self._seen:
            self._compiled[self._steps + 1] += now - self._seen
        self._seen = now


def times(number: int) -> str:
    """How often something happened, where that is more than once."""
    return f" ({number} times)" if number > 1 else ""
