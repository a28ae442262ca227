"""Compiled graphs as XLA dumps them: `module_0003.SyncTensorsGraph.25.before_optimizations.txt`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
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
    file: str = ""
    """The line of Python that built it, where recorded: the innermost one, which may be torch's own."""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Graph:
    """One graph."""

    operations: tuple[Operation, ...]

    @property
    def inputs(self) -> tuple[str, ...]:
        """The shapes of the inputs, in their order."""
        inputs = [operation for operation in self.operations if operation.kind == "parameter"]
        return tuple(operation.shape for operation in sorted(inputs, key=lambda each: int(each.detail)))

    @property
    def outputs(self) -> int:
        """The number of results."""
        last = self.operations[-1] if self.operations else None
        return len(last.operands) if last is not None and last.kind == "tuple" else int(last is not None)


def parse(text: str) -> Graph:
    """The entry computation of a dump. What is not understood is left out."""
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
        origin, file, at = (pattern.search(facts) for pattern in (_TYPE, _FILE, _LINE))
        operations.append(
            Operation(
                kind,
                _LAYOUT.sub("", shape),
                detail,
                operands,
                origin.group(1).replace("__", "::", 1) if origin else "",
                file.group(1) if file else "",
                int(at.group(1)) if at else 0,
            )
        )
    return Graph(tuple(operations))


class Dumps:
    """The graphs that a process dumps, in the order in which it compiles them. What has been read is deleted."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def take(self, inputs: int, outputs: int) -> Graph | None:
        """The oldest graph with so many inputs and outputs (-1: any); older ones that do not fit are dropped."""
        fitting = None
        done = -1
        for number, path in self._waiting():
            graph = parse(path.read_text(encoding="utf-8", errors="replace"))
            if inputs in {-1, len(graph.inputs)} and outputs in {-1, graph.outputs}:
                fitting, done = graph, number
                break
        if fitting is not None:
            self._drop(done)
        return fitting

    def _waiting(self) -> Iterator[tuple[int, Path]]:
        if self._folder.is_dir():
            found = [(int(match.group(1)), path) for path in self._folder.iterdir() if (match := DUMP.match(path.name))]
            yield from sorted(found)

    def _drop(self, last: int) -> None:
        for path in self._folder.iterdir():
            match = MODULE.match(path.name)
            if match is not None and int(match.group(1)) <= last:
                path.unlink()
