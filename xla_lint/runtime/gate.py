"""Limits on a run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from xla_lint.runtime.sources import name_of
from xla_lint.runtime.tpu_cache import MODULE
from xla_lint.runtime.tpu_use import CacheUse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from xla_lint.runtime.summary import Part, Row, Summary

BROKEN = 3
"""The exit status of `xla-lint run` where the program itself ended well and a limit is broken."""
NAMED = 3
"""The lines that the sentence on a broken limit names."""


@dataclass(frozen=True, slots=True)
class Check:
    """Something that a run is held against."""

    name: str
    broken: list[str]
    """How the run breaks it, one sentence each."""


def broken(checks: Iterable[Check]) -> list[str]:
    """What is broken, one sentence each."""
    return [sentence for check in checks for sentence in check.broken]


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

    def checks(self, summary: Summary) -> Iterator[Check]:
        """Each limit that there is, and what must be so that limits can hold."""
        processes = summary.processes
        if self.any:
            nothing = not summary.rows and not summary.tpu
            yield Check("recorded", ["nothing was recorded, so that no limit can be said to hold"] * nothing)
        if self._warm and processes:
            most, cold = max(process.steps for process in processes), not any(map(_became_warm, processes))
            yield Check("warm", [f"the program never became warm, with {most} steps; see --warmup"] * cold)
        if self.compiles is not None:
            yield Check(f"--max-compiles {self.compiles}", list(self._compiles(summary, self.compiles)))
        for limit, rate in ((self.executions_per_step, EXECUTIONS), (self.reads_per_step, READS)):
            if limit is not None:
                yield Check(f"{rate.option} {limit:g}", list(_rates(summary, rate, limit)))
        if not self.fallbacks:
            lines = _named(_lines(summary.rows, lambda row: row.reads * ("fallback" in row.manners)))
            names = ", ".join(summary.fallbacks)
            yield Check("--fail-on-fallback", [f"operations ran on the CPU: {names}{lines}"] if names else [])
        if summary.tpu and (unknown := " and ".join(self._unknown)):
            yield Check("known", [f"{unknown} are not known on {MODULE}, so that no limit on them can be said to hold"])

    @property
    def _unknown(self) -> list[str]:
        """What there is a limit on and TorchTPU does not tell."""
        asked = (self.executions_per_step is not None, self.reads_per_step is not None, not self.fallbacks)
        return [what for what, limit in zip(("executions", "reads", "fallbacks"), asked, strict=True) if limit]

    def _compiles(self, summary: Summary, allowed: int) -> Iterator[str]:
        for process in summary.processes:
            if _became_warm(process) and process.warm_compiles > allowed:
                graphs = "1 graph" if process.warm_compiles == 1 else f"{process.warm_compiles} graphs"
                lines = process.late if isinstance(process, CacheUse) else process.warm_lines
                after = _after(process, summary)
                yield f"process {process.pid} compiled {graphs}{after}, {allowed} allowed{_named(Counter(lines))}"


@dataclass(frozen=True, slots=True)
class _Rate:
    """Something that may happen so often a step."""

    option: str
    words: str
    of_part: Callable[[Part], int]
    of_row: Callable[[Row], int]


EXECUTIONS = _Rate(
    "--max-executions-per-step", "executed {} graphs", lambda part: part.warm_executions, lambda row: row.executions
)
READS = _Rate("--max-reads-per-step", "read {} times", lambda part: part.warm_reads, lambda row: row.reads)


def _rates(summary: Summary, rate: _Rate, limit: float) -> Iterator[str]:
    for part in filter(_became_warm, summary.parts):
        number = rate.of_part(part)
        found = number / (part.warm_steps if part.step else 1)
        if found > limit:
            shown = f"{found:.2f}".rstrip("0").rstrip(".") if part.step else str(number)
            often = "a step" if part.step else "and no step was seen"
            words = f"process {part.pid} {rate.words.format(shown)} {often}{_after(part, summary)}, {limit:g} allowed"
            yield words + _named(_lines(summary.rows, rate.of_row))


def _after(process: Part | CacheUse, summary: Summary) -> str:
    return f" after {summary.warmup} steps" if summary.warmup and process.step else ""


def _became_warm(part: Part | CacheUse) -> bool:
    """Whether the limits can hold of it: it made more steps than the warm-up has, or none is known."""
    return part.warm_steps > 0 or not part.step


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
