"""A whole run as plain data: what every report shows."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from xla_lint.runtime.causes import LOADER, cause_of
from xla_lint.runtime.collect import Line
from xla_lint.runtime.confirmation import Unconfirmed, unconfirmed
from xla_lint.runtime.counts import Counts
from xla_lint.runtime.debugfile import EVERYTHING
from xla_lint.runtime.exchange import Source, Steps
from xla_lint.runtime.fallbacks import fallbacks_of
from xla_lint.runtime.findings import TOO_MANY, is_checked
from xla_lint.runtime.given import Given
from xla_lint.runtime.history import Compiled, history
from xla_lint.runtime.places import Frame
from xla_lint.runtime.reasons import Reason, Told, reasons
from xla_lint.runtime.records import Memory
from xla_lint.runtime.sources import learn, line_of
from xla_lint.runtime.spans import Evidence
from xla_lint.runtime.tpu_use import CacheUse, use_of
from xla_lint.runtime.uncut import Uncut, uncut

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from xla_lint.runtime.collect import Process, Recording
    from xla_lint.runtime.exchange import State
    from xla_lint.runtime.findings import Linted, Verdict
    from xla_lint.runtime.graph_stacks import Stack
    from xla_lint.runtime.places import Place

ENDED_WELL = "ended well"
SEVERAL = 1.5
"""More barriers a step than this are several."""
FORMAT = 2
"""The version of `as_json`; it changes only if a key changes its meaning or goes."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the program."""

    file: str
    """Empty for what had no Python frame."""
    line: int
    function: str
    source: str
    inside_file: str
    """The line of a framework through which the line did it; empty where it asked torch itself."""
    inside_line: int
    inside_function: str
    compiles: int
    recompiles: int
    """Those among the compiles for which a graph like it was compiled there before."""
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
    manners: list[str]
    """How it reads, as in `exchange.ReadsAt`; the most frequent first."""
    rule: str
    """Empty where nothing is wrong with the line."""
    seen: str
    """`found by the linter too` or `seen only at run time`; empty without a rule."""
    stacks: list[tuple[int, Stack]]
    """The whole stacks, innermost line first, and how many compiles and executions each has; the busiest first."""


@dataclass(frozen=True, slots=True)
class Part:
    """One process."""

    pid: int
    command: str
    counts: Counts
    steps: int
    step: str
    """What a step is, as in `steps`; empty where there was none."""
    step_file: str
    """The line at which a step ends."""
    step_line: int
    barriers: int
    """Those before which something was executed."""
    optimizer_steps: int
    complete: bool
    """False where the process ended without leaving its last counts."""
    warm_steps: int
    """The steps after the warm-up."""
    warm_compiles: int
    """The compiles, executions and reads of those steps."""
    warm_executions: int
    warm_reads: int
    warm_lines: dict[str, int]
    """The lines that compiled after the warm-up, and how often."""
    eager_file: str
    """Where eager mode was switched on; empty where it was not."""
    eager_line: int
    timeline: list[Steps]
    compiles: list[Compiled]
    seconds: float = 0.0
    """From when it began to record until it was heard of last."""


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
    uncut: list[Uncut]
    fallbacks: dict[str, int]
    """The operations that ran on the CPU for want of a lowering, and how often."""
    fallbacks_here: dict[str, int]
    """Those that only the CPU device has no lowering for."""
    unconfirmed: list[Unconfirmed] = field(default_factory=list)
    """The linter's findings in these files of which the run shows nothing."""
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """Why the record is not complete: whoever has set limits cannot rely on it."""
    cells: dict[str, Source] = field(default_factory=dict)
    """The cells of notebooks that took part, by the names of their files."""
    ran: dict[str, list[int]] = field(default_factory=dict)
    """The lines that ran, by file; empty where nobody asked for them."""
    tpu: list[CacheUse] = field(default_factory=list)
    """The processes on TorchTPU, of which no line, execution and read is known."""

    @property
    def well(self) -> bool:
        """Whether the program ended well."""
        return self.ended == ENDED_WELL

    @property
    def processes(self) -> list[Part | CacheUse]:
        """All of them."""
        return [*self.parts, *self.tpu]

    @property
    def counts(self) -> Counts:
        """The totals of all processes; without the executions and reads of those on TorchTPU, which are not known."""
        return Counts(
            sum(part.counts.compiles for part in self.parts) + sum(use.lookups.compiles for use in self.tpu),
            sum(part.counts.executions for part in self.parts),
            sum(part.counts.reads for part in self.parts),
            sum(part.counts.compile_seconds for part in self.parts) + sum(use.executables.seconds for use in self.tpu),
            sum(part.counts.execute_seconds for part in self.parts),
            self.fallbacks,
        )

    @property
    def steps(self) -> int:
        """The steps of the process that made the most."""
        return max((process.steps for process in self.processes), default=0)

    def as_json(self) -> dict[str, Any]:
        """For programs: the same under `version`, `totals` and the names of the fields."""
        unknown = dict.fromkeys(("executions", "reads", "execute_seconds")) if self.tpu else {}
        return {"version": FORMAT, "totals": {**asdict(self.counts), **unknown}, **asdict(self)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Summary:
        """The run that `as_json` wrote down.

        Raises:
            KeyError, TypeError: it is of another version.
        """
        data = {"tpu": [], **data}  # reports from before it was known
        values = {each.name: data[each.name] for each in fields(cls)}
        values["tpu"] = [use_of(use) for use in data["tpu"]]
        values["rows"] = [_row_of(row) for row in data["rows"]]
        values["reasons"] = [_reason_of(reason) for reason in data["reasons"]]
        values["uncut"] = [Uncut(**each) for each in data["uncut"]]
        values["unconfirmed"] = [Unconfirmed(**each) for each in data["unconfirmed"]]
        values["cells"] = {file: Source(**cell) for file, cell in data["cells"].items()}
        learn(values["cells"])
        values["parts"] = [_part_of(part) for part in data["parts"]]
        return cls(**values)


def summarise(recording: Recording, linted: Linted, *, command: str, ended: str, warmup: int) -> Summary:
    """Put the processes of a run together. The linter checks each file that appears."""
    processes = recording.processes
    parts = [_part(process) for process in processes if process.state is not None]
    everywhere, here = fallbacks_of(state for process in processes if (state := process.state) is not None)
    cells = {file: cell for process in processes if process.state for file, cell in process.state.cells.items()}
    learn(cells)
    lines = _merged(processes)
    for line in lines:
        if line.place.own is not None and is_checked(line.place.own.file):
            linted.spans(line.place.own.file)
    why = list(reasons(processes, linted))
    grown = [each for process in processes for each in uncut(process, linted)]
    steps = sum(part.steps for part in parts)
    split = _split(lines, steps)
    if any(linted.splits(place) for place in split):
        split = set()  # of the barriers in a step one may stay, and the linter says which
    rows = [_row(line, linted, steps, [*why, *grown], splits=line.place in split) for line in lines]
    ran = _ran(state for process in processes if (state := process.state) is not None)
    return Summary(
        command,
        ended,
        warmup,
        parts,
        rows,
        why,
        grown,
        dict(everywhere.most_common()),
        dict(here.most_common()),
        list(unconfirmed(linted.all(), rows, why)),
        [*_notes(recording, parts), *linted.problems],
        list(_problems(recording)),
        cells,
        ran,
        recording.tpu,
    )


def _part(process: Process) -> Part:
    state = process.state
    assert state is not None
    counts = process.counts
    warm = state.warm
    if warm is None and not state.step:
        warm = Counts()  # no step was seen, so that nothing is left out
    last = state.last if state.last is not None and state.warm is not None else counts
    place, eager = state.step_place.own, state.eager.own if state.eager else None
    return Part(
        state.pid,
        shlex.join(state.arguments),
        counts,
        state.steps,
        state.step,
        place.file if place else "",
        place.line if place else 0,
        state.barriers,
        state.optimizer_steps,
        state.ended,
        max(0, state.steps - state.warm_steps),
        counts.compiles - warm.compiles if warm else 0,
        last.executions - warm.executions if warm else 0,
        last.reads - warm.reads if warm else 0,
        _warm_lines(process, warm),
        eager.file if eager else "",
        eager.line if eager else 0,
        state.timeline,
        list(history(process)),
        state.at,
    )


def _warm_lines(process: Process, warm: Counts | None) -> dict[str, int]:
    late = [each.place.own for each in process.compiles if warm is not None and each.number > warm.compiles]
    return dict(Counter(str(place) for place in late if place is not None).most_common())


def _part_of(data: dict[str, Any]) -> Part:
    counts, timeline = Counts(**data["counts"]), [Steps(**each) for each in data["timeline"]]
    compiles = list(map(_compiled_of, data["compiles"]))
    return Part(**{**data, "counts": counts, "timeline": timeline, "compiles": compiles})


def _compiled_of(data: dict[str, Any]) -> Compiled:
    given = tuple(Given(**each) for each in data.get("given", ()))
    memory = Memory(**data["memory"]) if data.get("memory") else None
    stack, differences = _stack_of(data["stack"]), _told_of(data["differences"])
    return Compiled(**{**data, "stack": stack, "differences": differences, "given": given, "memory": memory})


def _stack_of(frames: Iterable[Sequence[Any]]) -> Stack:
    return tuple(Frame(*frame) for frame in frames)


def _told_of(differences: Iterable[dict[str, Any]]) -> tuple[Told, ...]:
    return tuple(Told(**each) for each in differences)


def _row_of(data: dict[str, Any]) -> Row:
    stacks = [(number, _stack_of(stack)) for number, stack in data["stacks"]]
    return Row(**{**data, "stacks": stacks})


def _reason_of(data: dict[str, Any]) -> Reason:
    evidence = tuple(
        Evidence(tuple(rules), tuple(map(_stack_of, stacks)), least) for rules, stacks, least in data["evidence"]
    )
    allowed, differences = tuple(data["allowed"]), _told_of(data["differences"])
    return Reason(**{**data, "allowed": allowed, "differences": differences, "evidence": evidence})


def _ran(states: Iterable[State]) -> dict[str, list[int]]:
    ran: dict[str, set[int]] = {}
    for state in states:
        for file, lines in state.ran.items():
            ran.setdefault(file, set()).update(lines)
    return {file: sorted(lines) for file, lines in ran.items()}


def _merged(processes: Iterable[Process]) -> list[Line]:
    """The lines of all processes, the costly ones first, what has no line last."""
    lines: dict[Hashable, Line] = {}
    for process in processes:
        for line in process.lines.values():
            own, inside = line.place
            key = (own and own[:2], inside and inside[:2])
            whole = lines.setdefault(key, Line(line.place))
            whole.barriers += line.barriers
            whole.stacks.update(line.stacks)
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
    return sorted(busy, key=lambda line: (line.place.own is None, -line.seconds, -line.executions))


def _split(lines: Iterable[Line], steps: int) -> set[Place]:
    """The barriers that are not the only one of a step, where most steps have several; a loader's ends the step."""
    cuts = [line for line in lines if line.barriers > max(1, TOO_MANY * steps)]
    several = sum(line.barriers for line in cuts) > SEVERAL * steps
    return {line.place for line in cuts if not line.causes[LOADER]} if several and len(cuts) > 1 else set()


def _row(line: Line, linted: Linted, steps: int, reasons: Sequence[Reason | Uncut], *, splits: bool) -> Row:
    verdict: Verdict | None = linted.of_line(line, steps, splits=splits)
    rule, seen = (verdict.symbol, verdict.words) if verdict else ("", "")
    place, inside = line.place
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
        inside.file if inside else "",
        inside.line if inside else 0,
        inside.function if inside else "",
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
        [how for how, _ in line.manners.most_common()],
        rule,
        seen,
        [(number, stack) for stack, number in line.stacks.most_common()],
    )


def _cause(line: Line) -> str:
    words = list(dict.fromkeys(cause_of(cause).words for cause, number in line.causes.most_common() if number))
    if not words and line.late_reads:
        words = ["a value that is there already is read"] if line.place.own else ["reads outside any Python frame"]
    return "; ".join(words)


def _problems(recording: Recording) -> Iterable[str]:
    yield from recording.problems
    used = recording.processes or recording.tpu or not recording.ended
    if recording.idle and not used:
        yield "torch_xla was imported, and nothing was compiled or executed on an XLA device"
    if recording.tpu_idle and not used:
        yield "TorchTPU was loaded, and its cache was asked for nothing, or the program ended before that could be told"
    for pid, what in recording.unseen.items():
        yield f"process {pid} loaded torch_xla and is not recorded: {what}"
    for process in recording.processes:
        if process.state is not None:
            yield from (f"process {process.state.pid}: {problem}" for problem in process.state.problems)


def _notes(recording: Recording, parts: Sequence[Part]) -> Iterable[str]:
    processes = recording.processes
    if not processes and not recording.tpu:
        yield "no process executed anything on an XLA device"
    for part in parts:
        if not part.complete and recording.ended:
            yield (
                f"process {part.pid} ended without warning: its totals and reads are those of about a second before, "
                "its compiles and executions by line are complete"
            )
    for process in processes:
        state = process.state
        if state is None and recording.ended:
            yield "a process ended before it left any counts: only its compiles and executions by line are known"
        if state is None:
            continue
        if state.level and state.level != EVERYTHING and state.level.isdigit() and int(state.level) < int(EVERYTHING):
            yield (
                f"process {state.pid} ran with PT_XLA_DEBUG_LEVEL={state.level}, so that "
                + ("executions" if int(state.level) == 1 else "compiles and executions")
                + " are counted, but not placed"
            )
        yield from (f"process {state.pid}: {note}" for note in state.notes)
