"""Limits on a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.runtime.summary import Summary

BROKEN = 3
"""The exit status of `xla-lint run` where the program itself ended well and a limit is broken."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may cost in each of its processes once it is warm."""

    compiles: int | None = None
    executions_per_step: float | None = None
    fallbacks: bool = True
    """False where no operation may run on the CPU instead."""

    @property
    def any(self) -> bool:
        """True where there is a limit."""
        return self.compiles is not None or self.executions_per_step is not None or not self.fallbacks

    def broken(self, summary: Summary) -> Iterator[str]:
        """What was broken, one sentence each."""
        if self.any and not summary.rows:
            yield "nothing was recorded, so that no limit can be said to hold"
        for part in summary.parts:
            after = f" after {summary.warmup} steps" if summary.warmup else ""
            if self.compiles is not None and part.warm_compiles > self.compiles:
                graphs = "1 graph" if part.warm_compiles == 1 else f"{part.warm_compiles} graphs"
                yield f"process {part.pid} compiled {graphs}{after}, {self.compiles} allowed"
            if self.executions_per_step is not None and part.warm_steps:
                rate = part.warm_executions / part.warm_steps
                if rate > self.executions_per_step:
                    allowed = f"{self.executions_per_step:g} allowed"
                    yield f"process {part.pid} executed {rate:.2f} graphs a step{after}, {allowed}"
        if not self.fallbacks and summary.fallbacks:
            yield f"operations ran on the CPU: {', '.join(summary.fallbacks)}"
