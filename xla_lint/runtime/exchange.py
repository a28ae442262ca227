"""What a recorded process leaves in its folder for `xla-lint run` to collect."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, fields
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from xla_lint.runtime.counts import Counts
from xla_lint.runtime.places import Frame, Place

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FOLDER, WARMUP, LINES = "XLA_LINT_RUN_FOLDER", "XLA_LINT_RUN_WARMUP", "XLA_LINT_RUN_LINES"
"""Environment variables that tell a process where to leave its files, how many steps are warm-up, and to note lines."""
STATE, DEBUG_LOG, GRAPHS, FAILED = "state.json", "debug.log", "graphs", "failed.txt"
"""What a process leaves in its folder; the last one where it could not be recorded."""
NO_RECORDS = "counted, not placed: torch_xla writes records in the first process of a host only"


@dataclass(frozen=True, slots=True)
class Request:
    """What a process is asked to record, and where to leave it."""

    run: Path
    """The folder of the run: each process has one of its own in it."""
    warmup: int
    lines: bool

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Request:
        """The request that an environment holds."""
        return cls(Path(environment[FOLDER]), int(environment[WARMUP]), bool(environment.get(LINES)))

    @property
    def variables(self) -> dict[str, str]:
        """The request as an environment."""
        return {FOLDER: str(self.run), WARMUP: str(self.warmup), LINES: "1" if self.lines else ""}

    @property
    def folder(self) -> Path:
        """The folder of this process, a forked child's too."""
        return self.run / str(os.getpid())


@dataclass(slots=True)
class ReadsAt:
    """The transfers to the host that one line of the program made."""

    place: Place
    how: str
    """`value`, `format`, `branch`, `copy`, `fallback`; or `closure` and `save`, which may read."""
    pending: int = 0
    """Transfers of values that had to be computed for it."""
    late: int = 0
    """Transfers of values that were there already."""
    seconds: float = 0.0
    """How long the host waited."""


@dataclass(slots=True)
class BarriersAt:
    """The barriers that one line of the program reached."""

    place: Place
    number: int = 0
    seconds: float = 0.0
    """How long the host was held up, compilation included."""


@dataclass(slots=True)
class Steps:
    """One or several successive steps."""

    number: int
    end: float
    """Seconds since the process began to record."""
    compiles: int
    executions: int
    reads: int


@dataclass(slots=True)
class CompiledAt:
    """What was compiled at one barrier, or for one read."""

    upto: int
    """The number of the last graph that was; the process counts from 1."""
    step: int
    """The steps that had ended before."""
    at: float
    """Seconds since the process began to record."""
    seconds: float
    """How long compiling took."""
    optimizer_steps: int
    """Those that the graph holds: since the barrier before."""


@dataclass(slots=True)
class Source:
    """A cell of a notebook."""

    name: str
    """As its user knows it: `In[3]`; empty where it has none."""
    text: str


@dataclass(slots=True)
class State:
    """What a process knows about itself."""

    pid: int
    arguments: list[str]
    cwd: str
    """Where it was when it began to record."""
    at: float
    """Seconds since it began to record."""
    ended: bool
    """True for the state that it wrote at its end."""
    used: bool
    """Whether it did anything with the device."""
    counts: Counts
    warm: Counts | None
    """The counts at the end of the warm-up; None before."""
    last: Counts | None
    """The executions and reads at the end of the last step; None before the end of the warm-up."""
    steps: int
    step: str
    """What a step is: one of the constants in `steps`; empty where there was none."""
    step_place: Place
    """Where a step ends."""
    warm_steps: int
    barriers: int
    """The barriers before which something was executed."""
    optimizer_steps: int
    optimizer_place: Place
    unattributed_reads: int
    device: str
    """`CPU`, `TPU`, `NEURON`; empty before it was used."""
    debug_file: str
    debug_offset: int
    """The bytes that the file held before this process wrote to it."""
    level: str
    eager: Place | None = None
    """Where eager mode was switched on; None where it was not."""
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """Why something is missing here that happened."""
    reads: list[ReadsAt] = field(default_factory=list)
    barriers_at: list[BarriersAt] = field(default_factory=list)
    compiled: list[CompiledAt] = field(default_factory=list)
    timeline: list[Steps] = field(default_factory=list)
    cells: dict[str, Source] = field(default_factory=dict)
    """The cells that took part, by the names of their files."""
    ran: dict[str, list[int]] = field(default_factory=dict)
    """The lines that ran, by file; empty where nobody asked for them."""

    @property
    def writes(self) -> bool:
        """Whether torch_xla writes records for it."""
        return self.used and NO_RECORDS not in self.notes


TOTALS = ("counts", "warm", "last")
ROWS = {"reads": ReadsAt, "barriers_at": BarriersAt, "compiled": CompiledAt, "timeline": Steps}
"""Fields of the state: counts, and lists of rows."""


def write(state: State, folder: Path) -> None:
    """Leave the state in the process's folder, whole or not at all."""
    data = {each.name: getattr(state, each.name) for each in fields(state)}
    for name in TOTALS:
        data[name] = asdict(data[name]) if data[name] is not None else None
    for name, kind in ROWS.items():
        data[name] = list(map(_row(kind), data[name]))
    data["cells"] = {file: asdict(cell) for file, cell in state.cells.items()}
    folder.mkdir(exist_ok=True)
    new = folder / f"{STATE}.{state.pid}"
    new.write_text(json.dumps(data), encoding="utf-8")
    new.replace(folder / STATE)


def _row(kind: type) -> Callable[[object], tuple[object, ...]]:
    """What gives the fields of an object of this kind as a tuple: `asdict` takes twenty times as long."""
    return attrgetter(*(each.name for each in fields(kind)))


def left_at(folder: Path) -> int:
    """What tells the state that a process left last from those before; 0 where it left none."""
    path = folder / STATE
    return path.stat().st_mtime_ns if path.is_file() else 0


def read(folder: Path) -> State | None:
    """The state that a process left last; None where it left none."""
    path = folder / STATE
    if not path.is_file():
        return None
    data = json.loads(path.read_text(encoding="utf-8"))
    for name in TOTALS:
        data[name] = Counts(**data[name]) if data[name] is not None else None
    for name in ("step_place", "optimizer_place", "eager"):
        data[name] = _place(data[name]) if data[name] is not None else None
    for name in ("reads", "barriers_at"):
        data[name] = [ROWS[name](_place(place), *rest) for place, *rest in data[name]]
    for name in ("compiled", "timeline"):
        data[name] = [ROWS[name](*row) for row in data[name]]
    data["cells"] = {file: Source(**item) for file, item in data["cells"].items()}
    return State(**data)


def _place(frames: list[list[str | int] | None]) -> Place:
    return Place(*(Frame(str(each[0]), int(each[1]), str(each[2])) if each else None for each in frames))
