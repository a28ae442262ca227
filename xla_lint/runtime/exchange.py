"""What a recorded process leaves in its folder for `xla-lint run` to collect."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from xla_lint.runtime.counts import Counts
from xla_lint.runtime.places import Frame

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER, WARMUP, LINES = "XLA_LINT_RUN_FOLDER", "XLA_LINT_RUN_WARMUP", "XLA_LINT_RUN_LINES"
"""Environment variables that tell a process where to leave its files, how many steps are warm-up, and to note lines."""
STATE, DEBUG_LOG, GRAPHS, FAILED = "state.json", "debug.log", "graphs", "failed.txt"
"""What a process leaves in its folder; the last one where it could not be recorded."""


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

    place: Frame | None
    """None where no Python frame was there."""
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

    place: Frame | None
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
class State:
    """What a process knows about itself."""

    pid: int
    arguments: list[str]
    at: float
    """Seconds since it began to record."""
    ended: bool
    """True for the state that it wrote at its end."""
    counts: Counts
    warm: Counts | None
    """The counts at the end of the warm-up; None before."""
    steps: int
    warm_steps: int
    unattributed_reads: int
    debug_file: str
    debug_offset: int
    """The bytes that the file held before this process wrote to it."""
    level: str
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """Why something is missing here that happened."""
    reads: list[ReadsAt] = field(default_factory=list)
    barriers: list[BarriersAt] = field(default_factory=list)
    timeline: list[Steps] = field(default_factory=list)
    ran: dict[str, list[int]] = field(default_factory=dict)
    """The lines that ran, by file; empty where nobody asked for them."""


def write(state: State, folder: Path) -> None:
    """Leave the state in the process's folder, whole or not at all."""
    folder.mkdir(exist_ok=True)
    new = folder / f"{STATE}.{state.pid}"
    new.write_text(json.dumps(asdict(state)), encoding="utf-8")
    new.replace(folder / STATE)


def read(folder: Path) -> State | None:
    """The state that a process left last; None where it left none."""
    path = folder / STATE
    if not path.is_file():
        return None
    data = json.loads(path.read_text(encoding="utf-8"))
    data["counts"] = Counts(**data["counts"])
    data["warm"] = Counts(**data["warm"]) if data["warm"] else None
    data["reads"] = [ReadsAt(_frame(item.pop("place")), **item) for item in data["reads"]]
    data["barriers"] = [BarriersAt(_frame(item.pop("place")), **item) for item in data["barriers"]]
    data["timeline"] = [Steps(**item) for item in data["timeline"]]
    return State(**data)


def _frame(values: list[str | int] | None) -> Frame | None:
    return Frame(str(values[0]), int(values[1]), str(values[2])) if values else None
