"""What the recorded processes leave behind, put together while they run and after they end."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from xla_lint.runtime import exchange, tpu_use
from xla_lint.runtime.causes import EAGER, READ, cause_of
from xla_lint.runtime.counts import Counts
from xla_lint.runtime.given import kinds
from xla_lint.runtime.graphs import Dumps
from xla_lint.runtime.logs import DebugLog
from xla_lint.runtime.places import NOWHERE, names_ours, place_of
from xla_lint.runtime.records import COMPILE, MEMORY, REFUSED
from xla_lint.runtime.sites import Site
from xla_lint.runtime.turns import turns_of

if TYPE_CHECKING:
    from xla_lint.runtime.given import Kinds
    from xla_lint.runtime.graph_stacks import Stack
    from xla_lint.runtime.places import Place
    from xla_lint.runtime.records import Memory, Record
    from xla_lint.runtime.sites import Comparison
    from xla_lint.runtime.turns import Turns

EXPLAINED = 2000
"""The compiles of a process that are kept and explained; further ones are counted."""
ROOM = 1 << 16
"""With less bytes free on the disk, something could not be written."""
STACKS = 32
"""The stacks of one line that are told apart."""


@dataclass(slots=True)
class Pace:
    """How often a line does something, and in how many steps."""

    number: int = 0
    steps: int = 0
    """From the first time to the last, both included, by the line that most of them pass."""
    _first: Counter[Place] = field(default_factory=Counter)

    def note(self, passed: Counter[Place]) -> None:
        """It has happened once more; `passed` says how often each line that ends a step was passed so far."""
        if not self.number:
            self._first = passed.copy()
        self.number += 1
        self.steps = 1 + max((number - self._first[place] for place, number in passed.items()), default=0)

    def add(self, other: Pace) -> None:
        """Take in that of another process."""
        self.number += other.number
        self.steps += other.steps


@dataclass(slots=True)
class Compile:
    """One graph that was compiled."""

    number: int
    """Among all of the process, from 1, those without a record counted."""
    stack: Stack
    """What compiled it, innermost first; empty where there was no Python frame."""
    cause: str
    """As torch_xla spells it."""
    graph: str
    """The hash of the graph."""
    inputs: int = -1
    """How many it has; -1 where that is not known. `results` likewise."""
    results: int = -1
    operations: int = 0
    """How many the graph has; 0 where it was not dumped."""
    barriers: int = 0
    """How many barriers had executed something before."""
    against: Comparison | None = None
    """The closest graph that was compiled at the same place before; None where none is alike, or none was dumped."""
    beside: bool = False
    """True where that one was executed since the last barrier: both are of one step."""
    grows: bool = False
    """True where it has all operations of the one compiled there before, and more."""
    turns: Turns | None = None
    """The loop whose turns are all in this graph."""
    given: Kinds = ()
    """Its inputs, as far as their shapes are known."""
    memory: Memory | None = None
    missing: bool = False
    """True where it cannot be compared, because no graph was dumped, though its stack had compiled before."""

    @property
    def place(self) -> Place:
        """The user's own line, and what it called."""
        return place_of(self.stack)


@dataclass(slots=True)
class Line:
    """What one line of the program made the runtime do, by itself or through a line of a framework."""

    place: Place
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
    barriers: int = 0
    """The executions that it asked for by a barrier."""
    recompiles: int = 0
    """The compiles for which the line had compiled before, for the same cause."""
    executed_before: int = 0
    """Its executions before the first of these."""
    stacks: Counter[Stack] = field(default_factory=Counter)
    """The whole stacks of its compiles and executions, and how many each has."""


@dataclass(slots=True)
class Process:
    """One process of the run."""

    state: exchange.State | None = None
    lines: dict[Place, Line] = field(default_factory=dict)
    compiles: list[Compile] = field(default_factory=list)
    """In their order; of a process that never stops compiling, the first ones."""
    barriers: int = 0
    """How many barriers executed something."""
    ran: Counter[str] = field(default_factory=Counter)
    """How often each graph was executed, by its hash."""

    def line(self, place: Place) -> Line:
        """The row of a place."""
        return self.lines.setdefault(place, Line(place))

    @property
    def counts(self) -> Counts:
        """The totals by the runtime's own metrics, or what the records say where the last totals are missing."""
        known = self.state.counts if self.state else Counts()
        if self.state is not None and self.state.ended:
            return known
        lines = self.lines.values()
        return replace(
            known,
            compiles=max(known.compiles, sum(line.compiles for line in lines)),
            executions=max(known.executions, sum(line.executions for line in lines)),
            reads=max(known.reads, sum(line.pending_reads + line.late_reads for line in lines)),
        )

    @property
    def used(self) -> bool:
        """Whether it did anything with the device."""
        return bool(self.lines) or (self.state is not None and self.state.used)

    def copy(self) -> Process:
        """The same as it is now, to settle while the process goes on."""
        lines = {place: copy(line) for place, line in self.lines.items()}
        for line in lines.values():
            line.manners = Counter(line.manners)
        return replace(self, lines=lines)

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
        for barrier in self.state.barriers_at:
            self.line(barrier.place).seconds += barrier.seconds
        if not self.state.ended:
            self._complete_reads()
        self.lines.pop(NOWHERE, None)
        placed = list(self.lines.values())
        rest = Line(NOWHERE)
        rest.compiles = max(0, self.counts.compiles - sum(line.compiles for line in placed))
        rest.executions = max(0, self.counts.executions - sum(line.executions for line in placed))
        rest.late_reads = max(0, self.counts.reads - sum(line.pending_reads + line.late_reads for line in placed))
        rest.causes[EAGER if self.state.eager else ""] = rest.executions
        if rest.compiles or rest.executions or rest.late_reads:
            self.lines[NOWHERE] = rest

    def _complete_reads(self) -> None:
        """A read that executed something was made, though the process ended before it could say so."""
        for line in self.lines.values():
            line.pending_reads = max(line.pending_reads, line.forced.number)


@dataclass(slots=True)
class Recording:
    """What is known of a run."""

    processes: list[Process] = field(default_factory=list)
    """Those that used the device, or left a record of it."""
    tpu: list[tpu_use.CacheUse] = field(default_factory=list)
    """Of the processes that used TorchTPU."""
    tpu_idle: int = 0
    """How many loaded it and did not use it."""
    idle: int = 0
    """How many imported torch_xla, could be recorded, and did neither."""
    unseen: dict[int, str] = field(default_factory=dict)
    """The processes that loaded torch_xla and could not be recorded: what they are, or what went wrong."""
    problems: list[str] = field(default_factory=list)
    """What else is missing."""
    ended: bool = True
    """False where the program goes on."""

    def add(self, use: tpu_use.CacheUse) -> None:
        """Take in what a process on TorchTPU left."""
        if use.used:
            self.tpu.append(use)
        if use.problem:
            self.problems.append(f"process {use.pid}: {use.problem}")
        elif not use.used:
            self.tpu_idle += use.loaded


class Collector:
    """Reads the folder of a run again and again; memory is bounded by the number of lines of the program."""

    def __init__(self, folder: Path, *, echo: int | None = None) -> None:
        """`echo`: see `DebugLog`."""
        self._folder = folder
        self._echo = echo
        self._following: dict[Path, _Following] = {}
        self._foreign: dict[Path, _Following] = {}
        self._full = False

    def poll(self, *, last: bool = False) -> None:
        """Take in what is new; `last`: no process writes any more."""
        self._full = self._full or shutil.disk_usage(self._folder).free < ROOM
        for folder in sorted(path for path in self._folder.iterdir() if path.is_dir()):
            if folder not in self._following:
                log = DebugLog(folder / exchange.DEBUG_LOG, owned=True, echo=self._echo)
                self._following[folder] = _Following(log, Dumps(folder / exchange.GRAPHS))
            following = self._following[folder]
            following.renew(folder)
            following.poll()
        writing = [each for each in self._following.values() if each.process.state and each.process.state.writes]
        for following in [*writing, *(self._following.values() if last else ())]:
            self._follow_foreign(following)

    @property
    def processes(self) -> list[Process]:
        """Those that left a state, as far as is known."""
        return [each.process for each in self._following.values() if each.process.state is not None]

    def recording(self, *, ended: bool) -> Recording:
        """All of it: complete where the program has ended, else so far."""
        self.poll(last=ended)
        recording = Recording(ended=ended)
        if self._full:
            recording.problems.append(f"the disk of {self._folder.parent} was full, so that records are missing")
        for folder, following in self._following.items():
            process = following.process.copy()
            process.settle()
            use = tpu_use.read(folder)
            if use is not None:
                recording.add(use)
            if (failed := folder / exchange.FAILED).is_file():
                recording.unseen[int(folder.name)] = failed.read_text(encoding="utf-8")
            elif process.used:
                recording.processes.append(process)
            elif use is None:
                recording.idle += 1
        return recording

    def _follow_foreign(self, following: _Following) -> None:
        """Read the file that the program chose for its records, as those of the first process that writes to it."""
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
        self._left = 0
        self._sites: dict[tuple[Stack, str], Site] = {}
        self._compiles = 0
        self._compiled_at: set[tuple[Stack, str]] = set()
        self._hashes: dict[int, str] = {}
        self._last_ran: dict[str, int] = {}
        self._barriers: Counter[Place] = Counter()
        self._places: dict[Stack, Place] = {}

    @property
    def _cwd(self) -> str:
        return self.process.state.cwd if self.process.state else ""

    def _place(self, frames: Stack) -> Place:
        if frames not in self._places:
            self._places[frames] = place_of(frame.below(self._cwd) for frame in frames)
        return self._places[frames]

    def renew(self, folder: Path) -> None:
        """Read the state of the process, if it has left another one."""
        left = exchange.left_at(folder)
        if left != self._left:
            self.process.state, self._left = exchange.read(folder), left

    def poll(self) -> None:
        for record in self.log.records():
            self._add(record)

    def _add(self, record: Record) -> None:
        if record.kind == REFUSED:
            self._tell(record.text)
            return
        if record.kind == MEMORY:
            if self.process.compiles and self.process.compiles[-1].number == self._compiles:
                self.process.compiles[-1].memory = record.memory
            return
        place = self._place(record.frames)
        line = self.process.line(place)
        line.causes[record.cause] += 1
        if record.frames in line.stacks or len(line.stacks) < STACKS:
            line.stacks[record.frames] += 1
        if record.kind == COMPILE:
            line.compiles += 1
            self._compiled(record, line)
            return
        line.executions += 1
        self.process.ran[record.graph] += 1
        self._last_ran[record.graph] = self.process.barriers
        if cause_of(record.cause).barrier:
            line.barriers += 1
            self._barriers[place] += 1
            self.process.barriers += 1
        elif record.cause == READ:
            others = Counter({at: number for at, number in self._barriers.items() if at != place})
            line.forced.note(others)  # no step ends within a line

    def _tell(self, text: str) -> None:
        """What torch_xla would have told on standard error itself, had it no file for that."""
        if self.log.owned and not self.log.echoes:
            lines = [line for line in text.splitlines() if not names_ours(line)]
            with suppress(OSError, ValueError):
                print("\n".join(lines), file=sys.stderr, flush=True)

    def _compiled(self, record: Record, line: Line) -> None:
        self._compiles += 1
        graph = self._dumps.take(record.inputs, record.outputs, self._cwd)
        frames = tuple(frame.below(self._cwd) for frame in record.frames)
        made = Compile(self._compiles, frames, record.cause, record.graph, record.inputs, record.outputs)
        made.barriers = self.process.barriers
        self._hashes[made.number] = made.graph
        if graph is not None and record.frames and len(self.process.compiles) < EXPLAINED:
            made.operations = len(graph.operations)
            made.turns = turns_of(graph)
            site = self._sites.setdefault((record.frames, record.cause), Site())
            made.grows = site.grows(graph)
            made.against = site.add(made.number, graph)
            made.given = kinds(site.known[-1].graph)
        made.missing = graph is None and (record.frames, record.cause) in self._compiled_at
        self._compiled_at.add((record.frames, record.cause))
        if made.against is not None:
            earlier = self._hashes[made.against.number]
            made.beside = self._last_ran.get(earlier) == self.process.barriers
            line.executed_before = line.executed_before if line.recompiles else line.executions
            line.recompiles += 1
        if len(self.process.compiles) < EXPLAINED:
            self.process.compiles.append(made)
