"""Compiled graphs as XLA dumps them: `module_0003.SyncTensorsGraph.25.before_optimizations.txt`."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from xla_lint.runtime.graph_stacks import stacks_of
from xla_lint.runtime.places import Frame

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

DUMP = re.compile(r"module_(\d+)\..*\.before_optimizations\.txt$")
MODULE = re.compile(r"module_(\d+)\.")

_SHAPE = r"(?:\((?:[^()]|\([^()]*\))*\)|[\w-]+\[[^\]]*\])"
_OPERATION = re.compile(rf"\s+(?:ROOT )?%([\w.-]+) = ({_SHAPE})(?:\{{[\d,]*\}})? ([\w-]+)\((.*)$")
_METADATA = re.compile(r", metadata=\{([^}]*)\}")
_LAYOUT = re.compile(r"\{[\d,]*\}")
_TYPE = re.compile(r'op_type="([^"]*)"')
_FILE = re.compile(r'source_file="([^"]*)"')
_LINE = re.compile(r"source_line=(\d+)")
_OPERAND = re.compile(r"%([\w.-]+)")
CARRYING = frozenset({"broadcast", "constant", "convert", "iota", "parameter", "reshape", "transpose", "tuple"})
"""Operations of XLA that compute nothing."""
UNTRACED = 0.1
"""Where more than this part of what a graph computes does not tell what it is to PyTorch, tracing was off."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a graph."""

    kind: str
    """XLA's name: `dot`, `slice`, `parameter`."""
    shape: str
    """`f32[8,4]`."""
    detail: str
    """What else it depends on: a constant's value, the bounds of a slice, the number of a parameter."""
    operands: tuple[int, ...]
    """Their positions in the graph."""
    origin: str
    """PyTorch's name: `aten::addmm`; empty where it is not recorded."""
    stack: tuple[Frame, ...] = ()
    """Where it was built, innermost first, as far as recorded."""


@dataclass(frozen=True, slots=True)
class Graph:
    """One graph."""

    operations: tuple[Operation, ...]

    @property
    def inputs(self) -> list[Operation]:
        """The inputs, in their order."""
        inputs = [operation for operation in self.operations if operation.kind == "parameter"]
        return sorted(inputs, key=lambda each: int(each.detail))

    @property
    def results(self) -> list[Operation]:
        """What the graph returns."""
        last = self.operations[-1] if self.operations else None
        if last is None or last.kind != "tuple":
            return [last] if last is not None else []
        return [self.operations[operand] for operand in last.operands]

    @property
    def traced(self) -> bool:
        """Whether its operations tell what they are for PyTorch; those of a quiet program do not."""
        computing = [each for each in self.operations if each.kind not in CARRYING]
        return sum(not each.origin for each in computing) <= UNTRACED * len(computing)

    @property
    def outline(self) -> list[tuple[str, tuple[int, ...]]]:
        """Which operations there are, and what each works on."""
        return [(operation.kind, operation.operands) for operation in self.operations]

    def told_by(self, other: Graph) -> Graph:
        """The same; what is not known of an operation is what is known of the one in its place in a graph like it."""
        return Graph(
            tuple(
                mine if mine.origin else replace(mine, origin=its.origin, stack=mine.stack or its.stack)
                for mine, its in zip(self.operations, other.operations, strict=True)
            )
        )

    @property
    def bare(self) -> Graph:
        """The same in the terms of XLA alone."""
        return Graph(
            tuple(replace(each, origin="" if each.kind in CARRYING else each.kind) for each in self.operations)
        )


def comparable(before: Graph, after: Graph) -> tuple[Graph, Graph]:
    """Two graphs in the same terms: those of PyTorch where both are known in these, else those of XLA."""
    if before.traced and after.traced:
        return before, after
    if before.outline == after.outline:
        return before.told_by(after), after.told_by(before)
    return before.bare, after.bare


def parse(text: str, stacks: Mapping[str, tuple[Frame, ...]] | None = None) -> Graph:
    """The entry computation of a dump. What is not understood is left out. `stacks` are those of its operations."""
    stacks = stacks or {}
    operations: list[Operation] = []
    positions: dict[str, int] = {}
    _, _, entry = text.partition("\nENTRY ")
    for line in entry.splitlines():
        match = _OPERATION.match(line)
        if match is None:
            continue
        name, shape, kind, rest = match.groups()
        metadata = _METADATA.search(rest)
        facts = metadata.group(1) if metadata else ""
        rest = _METADATA.sub("", rest)
        inside, _, attributes = rest.rpartition(")") if kind != "constant" else (rest.rstrip(")"), "", "")
        if kind in {"constant", "parameter"}:
            operands: tuple[int, ...] = ()
            detail = inside
        else:
            operands = tuple(positions[each] for each in _OPERAND.findall(inside) if each in positions)
            detail = re.sub(r"to_apply=%[\w.-]+", "", attributes).strip(", ")
        positions[name] = len(operations)
        origin = _TYPE.search(facts)
        operations.append(
            Operation(
                kind,
                _LAYOUT.sub("", shape),
                detail,
                operands,
                origin.group(1).replace("__", "::", 1) if origin else "",
                stacks.get(name) or _innermost(facts),
            )
        )
    return Graph(tuple(operations))


def _innermost(facts: str) -> tuple[Frame, ...]:
    """The one frame that the text of a dump tells."""
    file, line = _FILE.search(facts), _LINE.search(facts)
    return (Frame(file.group(1), int(line.group(1)), ""),) if file and line else ()


class Dumps:
    """The graphs that a process dumps, in the order in which it compiles them. What has been read is deleted."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def take(self, inputs: int, outputs: int, folder: str = "") -> Graph | None:
        """The oldest graph with so many inputs and outputs (-1: any); older ones that do not fit are dropped.

        `folder` is where the process began: names of files may count from there.
        """
        fitting = None
        done = -1
        for number, path in self._waiting():
            graph = _read(path, folder)
            if inputs in {-1, len(graph.inputs)} and outputs in {-1, len(graph.results)}:
                fitting, done = graph, number
                break
        if fitting is not None:
            self._drop(done)
        return fitting

    def forget(self) -> None:
        """Drop what is there: it was compiled before anybody asked."""
        if self._folder.is_dir():
            self._drop(max((number for number, _ in self._waiting()), default=-1))

    def _waiting(self) -> Iterator[tuple[int, Path]]:
        if self._folder.is_dir():
            found = [(int(match.group(1)), path) for path in self._folder.iterdir() if (match := DUMP.match(path.name))]
            yield from sorted(found)

    def _drop(self, last: int) -> None:
        for path in self._folder.iterdir():
            match = MODULE.match(path.name)
            if match is not None and int(match.group(1)) <= last:
                path.unlink()


def _read(path: Path, folder: str) -> Graph:
    whole = path.with_suffix(".hlo.pb")
    stacks = stacks_of(whole.read_bytes(), folder) if whole.is_file() else {}
    return parse(path.read_text(encoding="utf-8", errors="replace"), stacks)
