"""Why a graph was compiled although one from the same place was there: what differs between the two."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from xla_lint.runtime.places import is_ours, is_own

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xla_lint.runtime.graphs import Graph, Operation

SHAPES = ("xla-changing-shape",)
CONSTANTS = ("xla-changing-constant",)
BRANCHES = ("xla-host-random", "xla-periodic-read", "xla-conditional-sync")
LONGER_ROWS = ("xla-dynamic-padding", "xla-incomplete-padding", "xla-changing-shape", "xla-dynamic-generate")
FEWER_ROWS = ("xla-ragged-batch",)
GROWING = ("xla-growing-tensor", "xla-dynamic-generate")

_DIMENSIONS = re.compile(r"\[([\d,]*)\]")


@dataclass(frozen=True, slots=True)
class Change:
    """What changed from one graph to the next."""

    words: str
    """A clause that follows 'because': `input 2 is f32[17,128], and was f32[32,128]`."""
    file: str = ""
    """Where the first operation that differs was built, as far as recorded; the line is 0 where it is not known."""
    line: int = 0
    rules: tuple[str, ...] = ()
    """The rules that may explain it, likeliest first."""
    rows: bool = False
    """True where inputs changed in nothing but the number of their rows."""


def compare(before: Graph, after: Graph, *, second: bool) -> Change:
    """What changed. `second` says that `before` was the first graph of its place."""
    at = _first_difference(before, after)
    if at is None:
        return Change("its operations are the same, but not what becomes of their results")
    old, new = before.operations[at], after.operations[at]
    resized = _resized(before.inputs, after.inputs)
    built = _place(old, new)
    if _outline(before) == _outline(after):
        if resized:
            change = Change(_inputs(resized), *built, _rules_for(resized, before, after), rows=_rows_only(resized))
        else:
            change = _same_outline(before, after, at, built)
        return _with_constants(change, before, after)
    same_inputs = len(before.inputs) == len(after.inputs)
    if resized and same_inputs and (_origins(before) == _origins(after) or _other_batch(resized)):
        return Change(_inputs(resized), *built, _rules_for(resized, before, after), rows=_rows_only(resized))
    change = _other_outline(before, after, at, built)
    if second and len(before.inputs) < len(after.inputs):
        return Change(f"{change.words}, as usual in a second step, which takes what the first one made", *built)
    return change


def _with_constants(change: Change, before: Graph, after: Graph) -> Change:
    """The change, which may hide that constants differ as well."""
    differ = any(
        old.kind == "constant" and old.shape == new.shape and old.detail != new.detail
        for old, new in zip(before.operations, after.operations, strict=True)
    )
    return replace(change, rules=tuple(dict.fromkeys([*change.rules, *CONSTANTS]))) if differ else change


def _same_outline(before: Graph, after: Graph, at: int, built: tuple[str, int]) -> Change:
    old, new = before.operations[at], after.operations[at]
    shape = next(
        ((a, b) for a, b in zip(before.operations, after.operations, strict=True) if a.shape != b.shape),
        None,
    )
    name = _name(new)
    if shape is not None:
        words = f"{_name(shape[1])} gives {shape[1].shape}, and gave {shape[0].shape}, from the same inputs"
        place = _place(*shape)
        return Change(words, *(place if place[0] else built), SHAPES)
    if old.kind == new.kind == "constant":
        user = _user(after, at)
        words = f"a constant of {_name(user)} is {new.detail}, and was {old.detail}"
        return Change(words, *(_place(new, user) if not built[0] else built), CONSTANTS)
    if old.shape == new.shape and old.detail != new.detail:
        return Change(f"{name} is built with {new.detail}, and was with {old.detail}", *built, CONSTANTS)
    return Change(f"{name} takes other operands", *built, BRANCHES)


def _other_outline(before: Graph, after: Graph, at: int, built: tuple[str, int]) -> Change:
    more = len(after.operations) - len(before.operations)
    inputs = len(after.inputs) - len(before.inputs)
    old, new = _name(before.operations[at]), _name(after.operations[at])
    first = f"{new} stands where {old} stood" if new != old else f"{new} takes other operands"
    length = f"the graph is {_count(abs(more), 'operation')} {'longer' if more > 0 else 'shorter'}: " if more else ""
    words = length + first
    if inputs:
        words += f", and there {'is' if abs(inputs) == 1 else 'are'} {_count(abs(inputs), 'input')}"
        words += " more" if inputs > 0 else " fewer"
    a, b = before.operations[at], after.operations[at]
    if a.kind == b.kind == "parameter":
        return Change(f"{length}input {b.detail} is {b.shape}, and input {a.detail} was {a.shape} in its place", *built)
    if old == new and a.kind != "tuple" and a.shape != b.shape:
        return Change(f"{new} gives {b.shape}, and gave {a.shape}", *built, SHAPES)
    if _origins(before) == _origins(after):
        return Change(words, *built, CONSTANTS if _shapes(before) == _shapes(after) else (*SHAPES, *CONSTANTS))
    return Change(words, *built, BRANCHES if more else ())


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _rules_for(resized: Sequence[tuple[int, str, str]], before: Graph, after: Graph) -> tuple[str, ...]:
    """What makes inputs change their shape, judged by which of their dimensions did and in which direction."""
    shrinks = all(_size(b) < _size(a) for _, a, b in resized)
    numbers = {number for number, _, _ in resized}
    joined = {
        int(graph.operations[operand].detail)
        for graph in (before, after)
        for operation in graph.operations
        if operation.kind == "concatenate"
        for operand in operation.operands
        if graph.operations[operand].kind == "parameter"
    }
    if numbers & joined and not shrinks:
        return (*GROWING, *LONGER_ROWS)
    if _rows_only(resized):
        return (*FEWER_ROWS, *SHAPES)
    return (*LONGER_ROWS, *FEWER_ROWS)


def _rows_only(resized: Sequence[tuple[int, str, str]]) -> bool:
    return all(_dims(a)[1:] == _dims(b)[1:] for _, a, b in resized if _dims(a) and _dims(b))


def _inputs(resized: Sequence[tuple[int, str, str]]) -> str:
    number, was, now = resized[0]
    more = f", and {_count(len(resized) - 1, 'other input')} changed" if len(resized) > 1 else ""
    return f"input {number} is {now}, and was {was}{more}"


def _resized(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, str, str]]:
    return [(i, a, b) for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b]


def _other_batch(resized: Sequence[tuple[int, str, str]]) -> bool:
    """True where all inputs that changed have another number of rows, and the same: XLA may build that otherwise."""
    pairs = [(_dims(was), _dims(now)) for _, was, now in resized]
    rows = {(was[0], now[0]) for was, now in pairs if was and now and was[1:] == now[1:]}
    return len(rows) == 1 and all(was and now and was[1:] == now[1:] for was, now in pairs)


def _first_difference(before: Graph, after: Graph) -> int | None:
    pairs = zip(before.operations, after.operations, strict=False)
    for at, (old, new) in enumerate(pairs):
        if (old.kind, old.shape, old.detail, old.operands) != (new.kind, new.shape, new.detail, new.operands):
            return at
    if len(before.operations) != len(after.operations):
        return min(len(before.operations), len(after.operations)) - 1
    return None


def _outline(graph: Graph) -> list[tuple[str, tuple[int, ...]]]:
    return [(operation.kind, operation.operands) for operation in graph.operations]


def _origins(graph: Graph) -> list[str]:
    """PyTorch's operations in order; what one of them becomes in XLA may depend on its arguments."""
    names: list[str] = []
    for operation in graph.operations:
        named = operation.origin and operation.kind not in {"constant", "parameter"}
        if named and operation.origin not in names[-1:]:
            names.append(operation.origin)
    return names


def _shapes(graph: Graph) -> list[str]:
    return sorted(operation.shape for operation in graph.operations)


def _place(*operations: Operation) -> tuple[str, int]:
    """The user's line among those that the operations record, else any recorded line, else nothing."""
    places = [(each.file, each.line) for each in operations if each.file and not is_ours(each.file)]
    return next((place for place in places if is_own(place[0])), places[0] if places else ("", 0))


def _user(graph: Graph, constant: int) -> Operation:
    """The operation that a constant serves, through the broadcasts and reshapes between."""
    at = constant
    for later, operation in enumerate(graph.operations[constant + 1 :], constant + 1):
        if at in operation.operands:
            if operation.kind not in {"broadcast", "reshape", "convert"}:
                return operation
            at = later
    return graph.operations[at]


def _name(operation: Operation) -> str:
    if operation.origin and operation.origin not in {"prim::Constant", "xla::device_data"}:
        return operation.origin
    return "what the graph returns" if operation.kind == "tuple" else operation.kind


def _dims(shape: str) -> list[int]:
    match = _DIMENSIONS.search(shape)
    return [int(each) for each in match.group(1).split(",") if each] if match else []


def _size(shape: str) -> int:
    return math.prod(_dims(shape))
