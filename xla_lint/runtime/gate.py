"""Limits on a run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from xla_lint.runtime.sources import name_of
from xla_lint.runtime.tpu_cache import MODULE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from xla_lint.runtime.summary import Part, Row, Summary
    from xla_lint.runtime.tpu_use import CacheUse

BROKEN = 3
"""The exit status of `xla-lint run` where the program itself ended well and a limit is broken."""
NAMED = 3
"""The lines that the sentence on a broken limit names."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may cost in each of its processes once it is warm."""

    compiles: int | None = None
    executions_per_step: float | None = None
    reads_per_step: float | None = None
    fallbacks: bool = True
    """False where no operation may run on the CPU instead."""

    @property
    def any(self) -> bool:
        """True where there is a limit."""
        return self._warm or not self.fallbacks

    @property
    def _warm(self) -> bool:
        """True where there is one that leaves the warm-up out."""
        per_step = self.executions_per_step is not None or self.reads_per_step is not None
        return self.compiles is not None or per_step

    def broken(self, summary: Summary) -> Iterator[str]:
        """What was broken, one sentence each."""
        processes = summary.processes
        if self.any and not summary.rows and not summary.tpu:
            yield "nothing was recorded, so that no limit can be said to hold"
        if self._warm and processes and not any(_became_warm(process) for process in processes):
            most = max(process.steps for process in processes)
            yield f"the program never became warm, with {most} steps; see --warmup"
        for part in summary.parts:
            if _became_warm(part):
                yield from self._broken(part, summary)
        yield from self._broken_on_tpu(summary)
        if not self.fallbacks and (names := [*summary.fallbacks]):
            lines = _named(_lines(summary.rows, lambda row: row.reads * ("fallback" in row.manners)))
            yield f"operations ran on the CPU: {', '.join(names)}{lines}"

    def _broken(self, part: Part, summary: Summary) -> Iterator[str]:
        after = f" after {summary.warmup} steps" if summary.warmup and part.step else ""
        if self.compiles is not None and part.warm_compiles > self.compiles:
            yield f"{_compiled(part)}{after}, {self.compiles} allowed{_named(Counter(part.warm_lines))}"
        steps = part.warm_steps if part.step else 1
        for limit, number, what, counted in (
            (self.executions_per_step, part.warm_executions, "executed {} graphs", _executing),
            (self.reads_per_step, part.warm_reads, "read {} times", _reading),
        ):
            if limit is not None and number / steps > limit:
                rate = f"{number / steps:.2f}".rstrip("0").rstrip(".") if part.step else str(number)
                often = "a step" if part.step else "and no step was seen"
                words = f"process {part.pid} {what.format(rate)} {often}{after}, {limit:g} allowed"
                yield words + _named(_lines(summary.rows, counted))

    def _broken_on_tpu(self, summary: Summary) -> Iterator[str]:
        for use in summary.tpu:
            if self.compiles is not None and _became_warm(use) and use.warm_compiles > self.compiles:
                after = f" after {summary.warmup} steps" if summary.warmup and use.step else ""
                yield f"{_compiled(use)}{after}, {self.compiles} allowed{_named(Counter(use.late))}"
        asked = (self.executions_per_step is not None, self.reads_per_step is not None, not self.fallbacks)
        limited = [what for what, limit in zip(("executions", "reads", "fallbacks"), asked, strict=True) if limit]
        if summary.tpu and limited:
            yield f"{' and '.join(limited)} are not known on {MODULE}, so that no limit on them can be said to hold"


def _compiled(part: Part | CacheUse) -> str:
    graphs = "1 graph" if part.warm_compiles == 1 else f"{part.warm_compiles} graphs"
    return f"process {part.pid} compiled {graphs}"


def _became_warm(part: Part | CacheUse) -> bool:
    """Whether the limits can hold of it: it made more steps than the warm-up has, or none is known."""
    return part.warm_steps > 0 or not part.step


def _executing(row: Row) -> int:
    return row.executions


def _reading(row: Row) -> int:
    return row.reads


def _lines(rows: Iterable[Row], number: Callable[[Row], int]) -> Counter[str]:
    lines: Counter[str] = Counter()
    for row in rows:
        if row.file and number(row):
            lines[f"{name_of(row.file)}:{row.line}"] += number(row)
    return lines


def _named(lines: Counter[str]) -> str:
    """The lines that did most of it, and how often each."""
    named = [f"{Path(line).name} ({number})" for line, number in lines.most_common(NAMED)]
    return f": {', '.join(named)}" if named else ""
