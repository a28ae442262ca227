"""What the recorded processes leave behind, put together while they run and after they end."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from xla_lint.runtime import exchange
from xla_lint.runtime.causes import READ, cause_of
from xla_lint.runtime.counts import Counts
from xla_lint.runtime.graphs import Dumps
from xla_lint.runtime.logs import DebugLog
from xla_lint.runtime.places import own
from xla_lint.runtime.recompiles import Change, compare
from xla_lint.runtime.records import COMPILE

if TYPE_CHECKING:
    from xla_lint.runtime.graphs import Graph
    from xla_lint.runtime.places import Frame
    from xla_lint.runtime.records import Record

EXPLAINED_PER_LINE = 200
"""The recompiles of one line that are explained one by one; further ones are counted."""


@dataclass(slots=True)
class Pace:
    """How often a line does something, and in how many steps."""

    number: int = 0
    steps: int = 0
    """From the first time to the last, both included, by the line that most of them pass."""
    _first: Counter[Frame | None] = field(default_factory=Counter)

    def note(self, passed: Counter[Frame | None]) -> None:
        """It has happened once more; `passed` says how often each line that ends a step was passed so far."""
        if not self.number:
            self._first = passed.copy()
        self.number += 1
        self.steps = 1 + max((number - self._first[place] for place, number in passed.items()), default=0)

    def add(self, other: Pace) -> None:
        """Take in that of another process."""
        self.number += other.number
        self.steps += other.steps


@dataclass(frozen=True, slots=True)
class Recompile:
    """One compile after the first at the same line."""

    place: Frame
    cause: str
    change: Change | None
    """None where a graph is missing, because none was dumped for one of the two."""


@dataclass(slots=True)
class Line:
    """What one line of the program made the runtime do."""

    place: Frame | None
    """None for what had no Python frame."""
    compiles: int = 0
    executions: int = 0
    pending_reads: int = 0
    late_reads: int = 0
    seconds: float = 0.0
    """How long the host was held up at the line's barriers and reads, compilation included."""
    causes: Counter[str] = field(default_factory=Counter)
    """As torch_xla spells them."""
    manners: Counter[str] = field(default_factory=Counter)
    """How it reads, as in `exchange.ReadsAt`."""
    forced: Pace = field(default_factory=Pace)
    """The executions for the value of a pending tensor."""
    recompiles: int = 0
    """The compiles for which the line had compiled before, for the same cause."""
    executed_before: int = 0
    """Its executions before the first of these."""


@dataclass(slots=True)
class Process:
    """One process of the run."""

    state: exchange.State | None = None
    lines: dict[Frame | None, Line] = field(default_factory=dict)
    recompiles: list[Recompile] = field(default_factory=list)
    unexplained: Counter[Frame] = field(default_factory=Counter)
    """Recompiles beyond those that are explained one by one."""

    def line(self, place: Frame | None) -> Line:
        """The row of a line."""
        return self.lines.setdefault(place, Line(place))

    @property
    def counts(self) -> Counts:
        """The totals by the runtime's own metrics."""
        return self.state.counts if self.state else Counts()

    def settle(self) -> None:
        """Add what the process itself knows, and what the metrics count beyond the records."""
        if self.state is None:
            return
        for row in self.state.reads:
            line = self.line(row.place)
            line.pending_reads += row.pending
            line.late_reads += row.late
            line.seconds += row.seconds
            line.manners[row.how] += row.pending + row.late
        for barrier in self.state.barriers:
            self.line(barrier.place).seconds += barrier.seconds
        rest = Line(None)
        placed = [line for line in self.lines.values() if line.place is not None]
        rest.compiles = max(0, self.counts.compiles - sum(line.compiles for line in placed))
        rest.executions = max(0, self.counts.executions - sum(line.executions for line in placed))
        rest.late_reads = max(0, self.counts.reads - sum(line.pending_reads + line.late_reads for line in placed))
        rest.causes[""] = rest.executions
        self.lines.pop(None, None)
        if rest.compiles or rest.executions or rest.late_reads:
            self.lines[None] = rest


@dataclass(slots=True)
class Recording:
    """What is known of a run."""

    processes: list[Process] = field(default_factory=list)
    """Those that used the device, or left a record of it."""
    idle: int = 0
    """How many imported torch_xla, could be recorded, and did neither."""
    unseen: dict[int, str] = field(default_factory=dict)
    """The processes that loaded torch_xla and could not be recorded: what they are, or what went wrong."""


class Collector:
    """Reads the folder of a run again and again; memory is bounded by the number of lines of the program."""

    def __init__(self, folder: Path, *, echo: int | None = None) -> None:
        """`echo`: see `DebugLog`."""
        self._folder = folder
        self._echo = echo
        self._following: dict[Path, _Following] = {}
        self._foreign: dict[Path, _Following] = {}

    def poll(self) -> None:
        """Take in what is new."""
        for folder in sorted(path for path in self._folder.iterdir() if path.is_dir()):
            if folder not in self._following:
                log = DebugLog(folder / exchange.DEBUG_LOG, owned=True, echo=self._echo)
                self._following[folder] = _Following(log, Dumps(folder / exchange.GRAPHS))
            following = self._following[folder]
            following.process.state = exchange.read(folder)
            following.poll()
            self._follow_foreign(following)

    def finish(self) -> Recording:
        """All of it, complete."""
        self.poll()
        recording = Recording()
        for folder, following in self._following.items():
            process = following.process
            process.settle()
            if (failed := folder / exchange.FAILED).is_file():
                recording.unseen[int(folder.name)] = failed.read_text(encoding="utf-8")
            elif process.state is not None or process.lines:
                recording.processes.append(process)
            else:
                recording.idle += 1
        return recording

    def _follow_foreign(self, following: _Following) -> None:
        """Read the file that the program chose for its records; several processes may share it."""
        state = following.process.state
        if state is None or not state.debug_file or Path(state.debug_file).is_relative_to(self._folder):
            return
        path = Path(state.debug_file)
        if path not in self._foreign:
            following.log = DebugLog(path, owned=False, offset=state.debug_offset)
            self._foreign[path] = following
            following.poll()


class _Following:
    """One process, and where its reading stands."""

    def __init__(self, log: DebugLog, dumps: Dumps) -> None:
        self.log = log
        self.process = Process()
        self._dumps = dumps
        self._graphs: dict[tuple[Frame, str], Graph | None] = {}
        self._again: set[tuple[Frame, str]] = set()
        self._explained: Counter[Frame] = Counter()
        self._barriers: Counter[Frame | None] = Counter()

    def poll(self) -> None:
        for record in self.log.records():
            self._add(record)

    def _add(self, record: Record) -> None:
        place = own(record.frames)
        line = self.process.line(place)
        line.causes[record.cause] += 1
        if record.kind != COMPILE:
            line.executions += 1
            if cause_of(record.cause).barrier:
                self._barriers[place] += 1
            elif record.cause == READ:
                others = Counter({at: number for at, number in self._barriers.items() if at != place})
                line.forced.note(others)  # no step ends within a line
            return
        line.compiles += 1
        graph = self._dumps.take(record.inputs, record.outputs)
        if place is not None:
            self._compiled(place, record.cause, graph)

    def _compiled(self, place: Frame, cause: str, graph: Graph | None) -> None:
        key = (place, cause)
        if key in self._graphs:
            line = self.process.line(place)
            line.executed_before = line.executed_before if line.recompiles else line.executions
            line.recompiles += 1
            if self._explained[place] < EXPLAINED_PER_LINE:
                self._explained[place] += 1
                self.process.recompiles.append(Recompile(place, cause_of(cause).words, self._change(key, graph)))
            else:
                self.process.unexplained[place] += 1
        self._graphs[key] = graph

    def _change(self, key: tuple[Frame, str], graph: Graph | None) -> Change | None:
        before = self._graphs[key]
        if before is None or graph is None:
            return None
        second = key not in self._again
        self._again.add(key)
        return compare(before, graph, second=second)
