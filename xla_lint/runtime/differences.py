"""What differs between two graphs, as facts: nothing here is a guess, and what is not understood is not said."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xla_lint.runtime.sizes import Sizes, dimensions, element

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from xla_lint.runtime.graph_stacks import Stack
    from xla_lint.runtime.graphs import Graph, Operation

SHAPE, TYPE, INPUTS = "shape of an input", "type of an input", "number of inputs"
VALUE, LENGTH = "value built in", "shape from the same inputs"
OPERATIONS, RESULTS = "operations", "results"
"""What differs."""
STRUCTURE = frozenset({INPUTS, OPERATIONS, RESULTS})
"""What makes another program, and no other shape or value."""
NAMED = 3
"""So many operations or results are named."""
SPREADING = frozenset({"broadcast", "iota", "constant"})
"""What gives the shape that it is asked for: another one follows from something else, if there is anything."""
PLUMBING = frozenset({"", "prim::Constant", "xla::device_data"})
"""Origins that are no operation of the program."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing in which a graph differs from an earlier one."""

    what: str
    """One of the constants above."""
    subject: str
    """Of what: `input 2`, `aten::roll`. Differences of the same thing of the same subject are one cause."""
    words: str
    """A clause: `input 2 is f32[17,128], and was f32[32,128]`."""
    before: str = ""
    after: str = ""
    stack: Stack = ()
    """Where it was built, innermost first, as far as recorded."""


def is_another(difference: Difference) -> bool:
    """Whether an input has no dimension in common with the one before, so that it is another tensor."""
    if difference.what != SHAPE:
        return False
    was, now = dimensions(difference.before), dimensions(difference.after)
    return len(was) != len(now) or (len(now) > 1 and all(old != new for old, new in zip(was, now, strict=True)))


def differences(before: Graph, after: Graph) -> list[Difference]:
    """All that `after` differs in; empty where nothing is found. Both are `comparable`."""
    inputs = list(_inputs(before, after))
    if before.outline == after.outline:
        return [*inputs, *_aligned(before, after, inputs)]
    if any(each.what == SHAPE for each in inputs) and (_same_program(before, after) or _other_batch(inputs)):
        return [*inputs, *_values(before, after, Sizes.of(inputs))]
    operations = list(_operations(before, after))
    more_inputs = list(_number_of_inputs(before, after))
    if operations:
        known = [each for each in inputs if each.what == TYPE or each.stack]
        return [*known, *operations, *more_inputs]
    return (
        [*operations, *more_inputs]
        or [*inputs, *_values(before, after, Sizes.of(inputs))]
        or [*_results(before, after)]
    )


def _inputs(before: Graph, after: Graph) -> Iterator[Difference]:
    """The inputs that have another shape or type, where the two graphs have as many, from the same lines."""
    old_inputs, new_inputs = before.inputs, after.inputs
    if len(old_inputs) != len(new_inputs):
        return
    for number, (old, new) in enumerate(zip(old_inputs, new_inputs, strict=True)):
        if old.shape == new.shape or (old.stack and new.stack and old.stack[:1] != new.stack[:1]):
            continue
        subject, stack = f"input {number}", new.stack or old.stack
        words = f"{subject} is {new.shape}, and was {old.shape}"
        what = SHAPE if dimensions(old.shape) != dimensions(new.shape) else TYPE
        yield Difference(what, subject, words, old.shape, new.shape, stack)


def _number_of_inputs(before: Graph, after: Graph) -> Iterator[Difference]:
    more = len(after.inputs) - len(before.inputs)
    if not more:
        return
    graph, other = (after, before) if more > 0 else (before, after)
    known = Counter(_moved(each) for each in other.inputs)
    rest = Counter(_moved(each) for each in graph.inputs) - known
    example = next((each for each in graph.inputs if rest[_moved(each)] and each.stack), None)
    count = f"{abs(more)} inputs" if abs(more) > 1 else "1 input"
    words = f"it has {count} {'more' if more > 0 else 'fewer'}"
    yield Difference(
        INPUTS, "inputs", words, str(len(before.inputs)), str(len(after.inputs)), example.stack if example else ()
    )


def _moved(operation: Operation) -> tuple[str, Stack]:
    return operation.shape, operation.stack


def _aligned(before: Graph, after: Graph, inputs: Iterable[Difference]) -> Iterator[Difference]:
    """What differs between two graphs whose operations correspond one to one."""
    sizes = Sizes.of(inputs)
    pairs = list(zip(before.operations, after.operations, strict=True))
    lengths = list(_lengths(pairs, sizes))
    yield from lengths or _once(_other_values(pairs, after, sizes))


def _lengths(pairs: list[tuple[Operation, Operation]], sizes: Sizes) -> Iterator[Difference]:
    """The operations that give another shape from operands of the same shapes, unless another one explains theirs."""
    found = [
        (old, new)
        for old, new in pairs
        if old.kind != "parameter"
        and dimensions(old.shape) != dimensions(new.shape)
        and all(pairs[at][0].shape == pairs[at][1].shape for at in new.operands)
    ]
    for old, new in sorted(found, key=lambda pair: pair[1].kind in SPREADING):
        if not sizes.explain(old.shape, new.shape):
            words = f"{name(new)} gives {new.shape}, and gave {old.shape}, from the same inputs"
            change = Difference(LENGTH, name(new), words, old.shape, new.shape, new.stack or old.stack)
            sizes = sizes.and_of(change)
            yield change


def _other_values(pairs: list[tuple[Operation, Operation]], after: Graph, sizes: Sizes) -> Iterator[Difference]:
    for at, (old, new) in enumerate(pairs):
        if old.kind == "parameter" or old.detail == new.detail or sizes.explain(old.detail, new.detail):
            continue
        if old.kind != "constant":
            words = f"{name(new)} is built with {new.detail}, and was with {old.detail}"
            yield Difference(VALUE, name(new), words, old.detail, new.detail, new.stack or old.stack)
        elif old.shape == new.shape:
            user = _user(after, at)
            words = f"a constant of {name(user)} is {new.detail}, and was {old.detail}"
            stack = new.stack or old.stack or user.stack
            yield Difference(VALUE, name(user), words, old.detail, new.detail, stack)


def _values(before: Graph, after: Graph, sizes: Sizes) -> Iterator[Difference]:
    """The constants and arguments of two graphs whose operations stand in another order: those without a match."""
    old, new = _by_subject(before), _by_subject(after)
    found = []
    for subject in old.keys() & new.keys():
        was, now = old[subject] - new[subject], new[subject] - old[subject]
        if sum(was.values()) == sum(now.values()) == 1:
            (a,), (b,) = was, now
            if not sizes.explain(a, b):
                words = f"a value built into {subject} is {b}, and was {a}"
                found.append(Difference(VALUE, subject, words, a, b, _first(after, subject)))
    yield from _once(sorted(found, key=lambda each: each.subject))


def _by_subject(graph: Graph) -> dict[str, Counter[str]]:
    values: dict[str, Counter[str]] = {}
    for operation in graph.operations:
        if operation.kind != "parameter" and operation.detail and operation.origin not in PLUMBING:
            values.setdefault(operation.origin, Counter())[operation.detail] += 1
    return values


def _operations(before: Graph, after: Graph) -> Iterator[Difference]:
    """The operations of PyTorch that one graph has and the other lacks, or has more of."""
    old, new = _origins(before), _origins(after)
    for mine, theirs, graph, has in ((new, old, after, True), (old, new, before, False)):
        only = [each for each in mine if not theirs[each]]
        if only:
            verb, other = ("has", "lacks") if has else ("lacks", "has")
            words = f"it {verb} {_listed(only)}, which the closest one before {other}"
            yield Difference(OPERATIONS, f"{verb} {only[0]}", words, stack=_first(graph, only[0]))
    if not old - new and not new - old:
        return
    if old.keys() == new.keys():
        changed = max(old.keys(), key=lambda each: abs(new[each] - old[each]))
        grown = new[changed] > old[changed]
        more = "more" if grown else "less"
        count = f"{new[changed]} operations of XLA, and the closest one before has {old[changed]}"
        words = f"it has {more} of {changed}: {count}"
        stack = _added(before, after, changed) if grown else _added(after, before, changed)
        yield Difference(OPERATIONS, f"{more} {changed}", words, str(old[changed]), str(new[changed]), stack)


def _results(before: Graph, after: Graph) -> Iterator[Difference]:
    """The values that one graph returns and the other does not: something keeps them."""
    old, new = (Counter((name(each), each.shape) for each in graph.results) for graph in (before, after))
    for mine, theirs, graph, has in ((new, old, after, True), (old, new, before, False)):
        only = list(mine - theirs)
        if only:
            verb, end = ("returns", "too: something keeps it") if has else ("does not return", "any more")
            words = f"it {verb} the result of {_listed(each for each, _ in only)} {end}"
            stack = next((each.stack for each in graph.results if (name(each), each.shape) == only[0]), ())
            yield Difference(RESULTS, f"{verb} {only[0][0]}", words, stack=stack)


def _once(found: Iterable[Difference]) -> Iterator[Difference]:
    """One difference for each subject: a layer that occurs twelve times is told once."""
    known: set[tuple[str, str]] = set()
    for each in found:
        if (each.what, each.subject) not in known:
            known.add((each.what, each.subject))
            yield each


def _added(fewer: Graph, more: Graph, origin: str) -> Stack:
    """The stack at which one graph has more operations of a kind; empty where one of the two does not tell its own."""
    few, many = (
        Counter(each.stack for each in graph.operations if each.origin == origin and each.stack)
        for graph in (fewer, more)
    )
    return next(iter(many - few), ()) if few else ()


def _first(graph: Graph, origin: str) -> Stack:
    return next((each.stack for each in graph.operations if each.origin == origin and each.stack), ())


def _listed(names: Iterable[str]) -> str:
    several = list(dict.fromkeys(names))
    rest = f" and {len(several) - NAMED} more" if len(several) > NAMED else ""
    return ", ".join(several[:NAMED]) + rest


def _same_program(before: Graph, after: Graph) -> bool:
    """True where both have the same operations of PyTorch, which XLA may build otherwise for another shape."""
    return _origins(before).keys() == _origins(after).keys()


def _other_batch(inputs: Iterable[Difference]) -> bool:
    """True where all inputs that changed have another number of rows, and the same: XLA may build that otherwise."""
    pairs = [(dimensions(each.before), dimensions(each.after)) for each in inputs]
    return len({(was[:1], now[:1]) for was, now in pairs}) == 1 and all(was[1:] == now[1:] for was, now in pairs)


def _origins(graph: Graph) -> Counter[str]:
    return Counter(operation.origin for operation in graph.operations if operation.origin not in PLUMBING)


def _user(graph: Graph, constant: int) -> Operation:
    """The operation that a constant serves, through the broadcasts and reshapes between."""
    at = constant
    for later, operation in enumerate(graph.operations[constant + 1 :], constant + 1):
        if at in operation.operands:
            if operation.kind not in {"broadcast", "reshape", "convert"}:
                return operation
            at = later
    return graph.operations[at]


def name(operation: Operation) -> str:
    """An operation as PyTorch calls it, else as XLA does."""
    if operation.origin not in PLUMBING:
        return operation.origin
    return "what the graph returns" if operation.kind == "tuple" else f"{operation.kind} {element(operation.shape)}"
