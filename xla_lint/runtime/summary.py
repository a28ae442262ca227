"""A whole run as plain data: what every report shows."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from xla_lint.runtime.causes import cause_of
from xla_lint.runtime.collect import Line
from xla_lint.runtime.counts import Counts
from xla_lint.runtime.debugfile import EVERYTHING
from xla_lint.runtime.exchange import Steps
from xla_lint.runtime.findings import allowed_rules
from xla_lint.runtime.sources import line_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from xla_lint.runtime.collect import Process, Recompile, Recording
    from xla_lint.runtime.exchange import State
    from xla_lint.runtime.findings import Linted, Verdict

FORMAT = 1
"""The version of `as_json`; it changes only if a key changes its meaning or goes."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the program."""

    file: str
    """Empty for what had no Python frame."""
    line: int
    function: str
    source: str
    compiles: int
    recompiles: int
    """Those among the compiles for which the line had compiled before, for the same cause."""
    recompiled_steps: int
    """The line's executions from the first of these on."""
    executions: int
    forced: int
    """Those among the executions for which the value of a pending tensor was needed."""
    forced_steps: int
    """The steps from the first of these to the last, both included."""
    reads: int
    late_reads: int
    """Those among the reads that needed no execution."""
    seconds: float
    cause: str
    rule: str
    """Empty where nothing is wrong with the line."""
    seen: str
    """`found by the linter too` or `seen only at run time`; empty without a rule."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Recompiles of one line for one reason."""

    file: str
    line: int
    number: int
    cause: str
    words: str
    """What changed, the last time."""
    built_file: str
    built_line: int
    allowed: tuple[str, ...]
    """The rules that the evidence allows, likeliest first."""
    rule: str
    seen: str


@dataclass(frozen=True, slots=True)
class Part:
    """One process."""

    pid: int
    command: str
    counts: Counts
    steps: int
    complete: bool
    """False where the process ended without leaving its last counts."""
    warm_steps: int
    """The steps after the warm-up."""
    warm_compiles: int
    """The compiles, executions and reads of those steps."""
    warm_executions: int
    warm_reads: int
    timeline: list[Steps]


@dataclass(frozen=True, slots=True)
class Summary:
    """One run."""

    command: str
    ended: str
    """How the program ended."""
    warmup: int
    parts: list[Part]
    rows: list[Row]
    reasons: list[Reason]
    fallbacks: dict[str, int]
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """Why the record is not complete: whoever has set limits cannot rely on it."""
    ran: dict[str, list[int]] = field(default_factory=dict)
    """The lines that ran, by file; empty where nobody asked for them."""

    @property
    def counts(self) -> Counts:
        """The totals of all processes."""
        return Counts(
            sum(part.counts.compiles for part in self.parts),
            sum(part.counts.executions for part in self.parts),
            sum(part.counts.reads for part in self.parts),
            sum(part.counts.compile_seconds for part in self.parts),
            sum(part.counts.execute_seconds for part in self.parts),
            self.fallbacks,
        )

    @property
    def steps(self) -> int:
        """The steps of the process that made the most."""
        return max((part.steps for part in self.parts), default=0)

    def as_json(self) -> dict[str, Any]:
        """For programs: the same under `version`, `totals` and the names of the fields."""
        return {"version": FORMAT, "totals": asdict(self.counts), **asdict(self)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Summary:
        """The run that `as_json` wrote down.

        Raises:
            KeyError, TypeError: it is of another version.
        """
        values = {each.name: data[each.name] for each in fields(cls)}
        values["rows"] = [Row(**row) for row in data["rows"]]
        values["reasons"] = [Reason(**{**reason, "allowed": tuple(reason["allowed"])}) for reason in data["reasons"]]
        values["parts"] = [_part_of(part) for part in data["parts"]]
        return cls(**values)


def summarise(recording: Recording, linted: Linted, *, command: str, ended: str, warmup: int) -> Summary:
    """Put the processes of a run together. The linter checks each file that appears."""
    processes = recording.processes
    parts = [_part(process) for process in processes if process.state is not None]
    fallbacks: Counter[str] = Counter()
    for part in parts:
        fallbacks.update(part.counts.fallbacks)
    reasons = list(_reasons(processes, linted, fallbacks))
    steps = sum(part.steps for part in parts)
    lines = _merged(processes)
    for line in lines:
        if line.place is not None:
            linted.spans(line.place.file)
    rows = [_row(line, linted, steps, reasons) for line in lines]
    ran = _ran(state for process in processes if (state := process.state) is not None)
    return Summary(
        command,
        ended,
        warmup,
        parts,
        rows,
        reasons,
        dict(fallbacks.most_common()),
        [*_notes(processes, parts), *linted.problems],
        list(_problems(recording)),
        ran,
    )


def _part(process: Process) -> Part:
    state = process.state
    assert state is not None
    warm = state.counts - state.warm if state.warm is not None else Counts()
    return Part(
        state.pid,
        " ".join(state.arguments),
        state.counts,
        state.steps,
        state.ended,
        max(0, state.steps - state.warm_steps),
        warm.compiles,
        warm.executions,
        warm.reads,
        state.timeline,
    )


def _part_of(data: dict[str, Any]) -> Part:
    counts, timeline = Counts(**data["counts"]), [Steps(**each) for each in data["timeline"]]
    return Part(**{**data, "counts": counts, "timeline": timeline})


def _ran(states: Iterable[State]) -> dict[str, list[int]]:
    ran: dict[str, set[int]] = {}
    for state in states:
        for file, lines in state.ran.items():
            ran.setdefault(file, set()).update(lines)
    return {file: sorted(lines) for file, lines in ran.items()}


def _merged(processes: Iterable[Process]) -> list[Line]:
    """The lines of all processes, the costly ones first, what has no line last."""
    lines: dict[tuple[str, int] | None, Line] = {}
    for process in processes:
        for line in process.lines.values():
            key = (line.place.file, line.place.line) if line.place else None
            whole = lines.setdefault(key, Line(line.place))
            whole.compiles += line.compiles
            whole.executions += line.executions
            whole.forced.add(line.forced)
            whole.recompiles += line.recompiles
            whole.executed_before += line.executed_before if line.recompiles else line.executions
            whole.pending_reads += line.pending_reads
            whole.late_reads += line.late_reads
            whole.seconds += line.seconds
            whole.causes.update(line.causes)
            whole.manners.update(line.manners)
    busy = [
        line for line in lines.values() if line.compiles or line.executions or line.pending_reads or line.late_reads
    ]
    return sorted(busy, key=lambda line: (line.place is None, -line.seconds, -line.executions))


def _row(line: Line, linted: Linted, steps: int, reasons: Sequence[Reason]) -> Row:
    verdict: Verdict | None = linted.of_line(line, steps)
    rule, seen = (verdict.symbol, verdict.words) if verdict else ("", "")
    place = line.place
    if verdict is None and place is not None:
        here = [each for each in reasons if (each.file, each.line) == (place.file, place.line) and each.rule]
        if here:
            worst = max(here, key=lambda each: each.number)
            rule, seen = worst.rule, worst.seen
    return Row(
        place.file if place else "",
        place.line if place else 0,
        place.function if place else "",
        line_of(place.file, place.line) if place else "",
        line.compiles,
        line.recompiles,
        line.executions - line.executed_before,
        line.executions,
        line.forced.number,
        line.forced.steps,
        line.pending_reads + line.late_reads,
        line.late_reads,
        line.seconds,
        _cause(line),
        rule,
        seen,
    )


def _cause(line: Line) -> str:
    words = list(dict.fromkeys(cause_of(cause).words for cause, number in line.causes.most_common() if number))
    if not words and line.late_reads:
        words = ["a value that is there already is read"] if line.place else ["reads outside any Python frame"]
    return "; ".join(words)


def _reasons(processes: Iterable[Process], linted: Linted, fallbacks: Counter[str]) -> Iterable[Reason]:
    """Recompiles of the same line that allow the same rules are told once, with the last change."""
    groups: dict[tuple[str, int, tuple[str, ...]], list[Recompile]] = {}
    for process in processes:
        for recompile in process.recompiles:
            key = (recompile.place.file, recompile.place.line, allowed_rules(recompile, fallbacks))
            groups.setdefault(key, []).append(recompile)
    beyond: Counter[tuple[str, int]] = Counter()
    for process in processes:
        for place, number in process.unexplained.items():
            beyond[place.file, place.line] += number
    for (file, line, allowed), group in groups.items():
        last = group[-1]
        verdict = linted.of_recompile(last, fallbacks)
        change = last.change
        yield Reason(
            file,
            line,
            len(group) + beyond.pop((file, line), 0),
            last.cause,
            change.words if change else "one of the two graphs was not recorded",
            change.file if change else "",
            change.line if change else 0,
            allowed,
            verdict.symbol if verdict else "",
            verdict.words if verdict else "",
        )


def _problems(recording: Recording) -> Iterable[str]:
    if recording.idle and not recording.processes:
        yield "torch_xla was imported, and nothing was compiled or executed on an XLA device"
    for pid, what in recording.unseen.items():
        yield f"process {pid} loaded torch_xla and is not recorded: {what}"
    for process in recording.processes:
        if process.state is not None:
            yield from (f"process {process.state.pid}: {problem}" for problem in process.state.problems)


def _notes(processes: Sequence[Process], parts: Sequence[Part]) -> Iterable[str]:
    if not processes:
        yield "no process executed anything on an XLA device"
    for part in parts:
        if not part.complete:
            yield (
                f"process {part.pid} ended without warning: its totals and reads are those of about a second before, "
                "its compiles and executions by line are complete"
            )
    for process in processes:
        state = process.state
        if state is None:
            yield "a process ended before it left any counts: only its compiles and executions by line are known"
        elif state.level and state.level != EVERYTHING and state.level.isdigit() and int(state.level) < int(EVERYTHING):
            yield (
                f"process {state.pid} ran with PT_XLA_DEBUG_LEVEL={state.level}, so that "
                + ("executions" if int(state.level) == 1 else "compiles and executions")
                + " are counted, but not placed"
            )
        if state is not None:
            yield from (f"process {state.pid}: {note}" for note in state.notes)
