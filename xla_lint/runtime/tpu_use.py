"""What a process on TorchTPU leaves for `xla-lint run` to collect, and what the report holds of it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from xla_lint.runtime.steps import OPTIMIZER
from xla_lint.runtime.tpu_cache import MODULE, UNKNOWN, UNTRIED, Executables, Lookups

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

FILE = "tpu.json"
"""In the folder of the process."""
NAMED = 3
"""The steps that a sentence names."""


@dataclass(frozen=True, slots=True)
class CacheUse:
    """How a process used the cache of executables. Executions and reads are not counted, so that none is held here."""

    pid: int
    command: str
    complete: bool
    """False where the process ended without leaving its last counts."""
    lookups: Lookups = field(default_factory=Lookups)
    executables: Executables = field(default_factory=Executables)
    steps: int = 0
    """Steps of the optimizer: there is no barrier to see."""
    step_file: str = ""
    step_line: int = 0
    warm_steps: int = 0
    """The steps after the warm-up."""
    warm_compiles: int = 0
    """What those compiled, and what came after; everything, where no step was seen."""
    late: dict[str, int] = field(default_factory=dict)
    """The steps after the warm-up that compiled, and how much: `step 5`."""
    loaded: bool = True
    """False where it was another vendor's package of that name, or the process ended too early to tell."""
    problem: str = ""
    """Why the record is not complete."""

    @property
    def step(self) -> str:
        """What a step is, as in `steps`; empty where there was none."""
        return OPTIMIZER if self.steps else ""

    @property
    def used(self) -> bool:
        """Whether it ran anything on the device, as far as is known."""
        return bool(self.lookups.asked)

    def most(self) -> list[tuple[str, int]]:
        """The steps that compiled the most, once it was warm, and how much."""
        return Counter(self.late).most_common(NAMED)


def write(use: CacheUse, folder: Path) -> None:
    """Leave it in the process's folder, whole or not at all."""
    folder.mkdir(exist_ok=True)
    new = folder / f"{FILE}.{use.pid}"
    new.write_text(json.dumps(asdict(use)), encoding="utf-8")
    new.replace(folder / FILE)


def read(folder: Path) -> CacheUse | None:
    """What a process left last; None where it never loaded TorchTPU."""
    path = folder / FILE
    return use_of(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else None


def use_of(data: dict[str, object]) -> CacheUse:
    """The use that `asdict` made plain data of."""
    lookups, executables = Lookups(**data["lookups"]), Executables(**data["executables"])  # type: ignore[arg-type]
    return CacheUse(**{**data, "lookups": lookups, "executables": executables})  # type: ignore[arg-type]


def sentences(uses: Sequence[CacheUse], shown: Callable[[str, int], str]) -> Iterator[str]:
    """What a report says of them, and what it cannot say; `shown` names a line of a file."""
    for use in uses:
        held = use.executables
        yield (
            f"process {use.pid} on {MODULE}: {use.lookups.asked} lookups of executables, {use.lookups.compiles} of "
            f"them not in memory; of the {held.number} that are held, {held.once} were used once, and {held.free} took "
            "no time to compile, as where a disk cache has them"
        )
        if not use.complete:
            yield f"process {use.pid} ended without warning: its counts are those that it left last"
        if not use.steps:
            yield f"process {use.pid}: no step of an optimizer was seen; limits hold of all that happened"
        elif use.late:
            named = ", ".join(f"{step} ({number})" for step, number in use.most())
            yield (
                f"process {use.pid}, once warm, compiled in {named}; a step ends with the optimizer's at "
                f"{shown(use.step_file, use.step_line)}"
            )
    if uses:
        yield UNKNOWN
        yield UNTRIED
