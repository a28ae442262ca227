"""The records that torch_xla writes to PT_XLA_DEBUG_FILE, read piece by piece.

A record looks as follows in torch_xla 2.9; its lines begin with `Compilation Analysis: ` or `Execution Analysis: `:

    ====
    Compilation Cause
      user torch_xla.sync
    Graph Info:
      Graph Hash: 510c…
      Number of Graph Inputs: 2
      Number of Graph Outputs: 1
    Python Frame Triggered Execution:
      step (/home/me/train.py:9)
    ----
    ====

After each compilation follows a line `Computation hash: …`, even where the compilation itself has no record because
no Python frame was there: so compilations can be counted to the unit. Then it says what the graph needs on the device.
Executions without a frame leave no trace here.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xla_lint.runtime.places import Frame

if TYPE_CHECKING:
    from collections.abc import Iterator

COMPILE, EXECUTION, REFUSED, MEMORY = "compile", "execution", "refused", "memory"
DYNAMO_RUN = "dynamo is executing a compiled program"

_PREFIX = re.compile(r"(Compilation|Execution|Unexpected Execution) Analysis: ?")
KINDS = {"Compilation": COMPILE, "Execution": EXECUTION, "Unexpected Execution": REFUSED}
_FRAME = re.compile(r"  (\S.*?) \((.*):(\d+)\)$")
_COMPILED = "Computation hash: "
_SIZES = "Post Compilation Analysis: "
_SIZE = re.compile(r"([\w ]+) size: ([\d.]+) GB$")
GIGABYTE = 1 << 30
_RULE = "=" * 20
_END = "-" * 20
_CACHED_BLOCKS = 4096


@dataclass(frozen=True, slots=True)
class Memory:
    """What a graph needs on the device, in bytes; torch_xla tells some thousand at a time."""

    inputs: int
    outputs: int
    aliased: int
    """Of the outputs, what takes the place of inputs."""
    temporary: int
    program: int

    @property
    def total(self) -> int:
        """All that is there while it runs."""
        return self.inputs + self.outputs - self.aliased + self.temporary + self.program


@dataclass(frozen=True, slots=True)
class Record:
    """One compilation or execution, or what the graph that was compiled last needs."""

    kind: str
    """`compile`, `execution`, `memory`, or `refused`: an execution that a region under `full_graph=True` forbids."""
    cause: str = ""
    """As torch_xla spells it; empty where it left no record."""
    graph: str = ""
    """The hash of the graph in hexadecimal."""
    inputs: int = -1
    """The number of the graph's inputs; -1 where it is not known. `outputs` likewise."""
    outputs: int = -1
    frames: tuple[Frame, ...] = ()
    """Innermost first; empty where there was no Python frame."""
    text: str = ""
    """Of a refused one: what torch_xla tells the user."""
    memory: Memory | None = None


class RecordParser:
    """Turns text into records, however it is cut into pieces. Memory stays bounded whatever the length of the text."""

    def __init__(self) -> None:
        self._rest = ""
        self._known: dict[str, Record | None] = {}
        self._compiling: deque[Record] = deque(maxlen=1024)

    def feed(self, text: str) -> Iterator[Record]:
        """The records that `text` completes."""
        *blocks, rest = (self._rest + text).split("\n\n")
        if _complete(rest):
            blocks.append(rest)
            rest = ""
        self._rest = rest
        for block in blocks:
            yield from self._records(block.strip("\n"))

    def _records(self, block: str) -> Iterator[Record]:
        if block.startswith(_COMPILED):
            yield self._compiling.popleft() if self._compiling else Record(COMPILE)
            return
        if block not in self._known:
            if len(self._known) >= _CACHED_BLOCKS:
                self._known.clear()
            self._known[block] = _parse(block)
        record = self._known[block]
        if record is None:
            return
        if record.kind == COMPILE:
            self._compiling.append(record)
        else:
            yield record


def _complete(text: str) -> bool:
    """True where nothing can follow in the same record."""
    if not text.endswith("\n"):
        return False
    lines = text.strip("\n").splitlines()
    return bool(lines) and (
        lines[0].startswith(_COMPILED) or (len(lines) > 1 and lines[-1].endswith(_RULE) and _END in lines[-2])
    )


def _memory(lines: list[str]) -> Record | None:
    found = [match for line in lines if (match := _SIZE.search(line))]
    sizes = {match.group(1).strip(): round(float(match.group(2)) * GIGABYTE) for match in found}
    names = ("Graph input", "Graph output", "Aliased Input", "Intermediate tensor", "Compiled program")
    return Record(MEMORY, memory=Memory(*(sizes[name] for name in names))) if sizes.keys() >= set(names) else None


def _parse(block: str) -> Record | None:
    lines = block.splitlines()
    if block.startswith(_SIZES):
        return _memory(lines)
    first = _PREFIX.match(lines[0]) if lines else None
    if first is None:
        return None
    kind = KINDS[first.group(1)]
    body = [line[first.end() :] for line in lines]
    facts: dict[str, str] = {}
    frames = []
    cause = ""
    section = ""
    for line in body:
        if not line.startswith(" "):
            section = line
        elif section.endswith("Cause"):
            cause = cause or line.strip()
        elif section.startswith("Graph Info"):
            name, _, value = line.strip().partition(": ")
            facts[name] = value
        elif match := _FRAME.match(line):
            frames.append(Frame(match.group(2), int(match.group(3)), match.group(1)))
    if kind == COMPILE and cause == DYNAMO_RUN:
        kind = EXECUTION  # so torch_xla 2.9 labels the first run of what dynamo compiled
    return Record(
        kind,
        cause,
        facts.get("Graph Hash", ""),
        int(facts.get("Number of Graph Inputs", -1)),
        int(facts.get("Number of Graph Outputs", -1)),
        tuple(frames),
        block if kind == REFUSED else "",
    )
