"""Why graphs were compiled again: what was found to differ, grouped, with the rule that the evidence supports."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xla_lint.runtime.causes import cause_of
from xla_lint.runtime.differences import LENGTH, OPERATIONS, SHAPE, VALUE
from xla_lint.runtime.findings import Verdict
from xla_lint.runtime.places import is_backend, own
from xla_lint.runtime.sizes import dimensions
from xla_lint.runtime.sources import tensor_at

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence

    from xla_lint.runtime.collect import Compile, Process
    from xla_lint.runtime.differences import Difference
    from xla_lint.runtime.findings import Linted
    from xla_lint.runtime.places import Frame
    from xla_lint.runtime.sites import Comparison

CHANGING_SHAPE, CHANGING_CONSTANT, RAGGED = "xla-changing-shape", "xla-changing-constant", "xla-ragged-batch"
GROWING, DATA_DEPENDENT, MISSING = "xla-growing-tensor", "xla-data-dependent-shape", "xla-missing-sync"
ALLOWED = {
    SHAPE: (
        RAGGED,
        "xla-dynamic-padding",
        "xla-incomplete-padding",
        GROWING,
        "xla-dynamic-generate",
        DATA_DEPENDENT,
        CHANGING_SHAPE,
    ),
    LENGTH: (CHANGING_SHAPE, GROWING, "xla-dynamic-generate", DATA_DEPENDENT, CHANGING_CONSTANT),
    VALUE: (CHANGING_CONSTANT, CHANGING_SHAPE),
    OPERATIONS: ("xla-host-random", "xla-conditional-sync", "xla-periodic-read", CHANGING_SHAPE, CHANGING_CONSTANT),
}
"""The rules that may explain a difference, where the linter finds one that has to do with it."""
UNCUT = (MISSING, "xla-conditional-sync", "xla-graph-growth")
"""Those that may explain a graph that grows."""
GROWN = 2
"""So many times a graph must have grown until that is called growing."""


@dataclass(frozen=True, slots=True)
class Told:
    """One difference, as the report tells it."""

    what: str
    """As in `differences`."""
    words: str
    before: str
    after: str
    file: str
    """The user's line that built it; empty where it is not known."""
    line: int
    tensor: str = ""
    """Of an input: its name in that line, if it has one."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Recompiles of one line for one reason."""

    file: str
    line: int
    number: int
    cause: str
    words: str
    """What changed, the last time."""
    explained: bool
    """False where nothing was found that differs; the words then say what was compared."""
    differences: tuple[Told, ...]
    allowed: tuple[str, ...]
    """The rules that the evidence allows."""
    rule: str
    """The one that explains it; empty where the evidence supports none."""
    seen: str


@dataclass(slots=True)
class _Group:
    place: Frame
    cause: str
    compiles: list[Compile] = field(default_factory=list)


def reasons(processes: Iterable[Process], linted: Linted) -> Iterator[Reason]:
    """All of them, in the order in which they occurred first."""
    for process in processes:
        growing = _growing(process)
        groups: dict[Hashable, _Group] = {}
        undumped: dict[Hashable, _Group] = {}
        changes: dict[Hashable, list[Difference]] = defaultdict(list)
        for each in process.compiles:
            place = each.place.own
            if place is not None and each.missing:
                undumped.setdefault((place, each.cause), _Group(place, cause_of(each.cause).words)).compiles.append(
                    each
                )
            if place is None or each.against is None or not _again(each, each.against, process):
                continue
            grows = id(each) in growing
            kinds = "grows" if grows else tuple((one.what, one.subject) for one in each.against.differences)
            key = (place, each.cause, kinds)
            groups.setdefault(key, _Group(place, cause_of(each.cause).words)).compiles.append(each)
            for one in each.against.differences:
                changes[place, cause_of(each.cause).words, one.what, one.subject].append(one)
        rows = _from_values(process)
        for group in groups.values():
            if id(group.compiles[0]) in growing:
                yield _grown(group, linted)
                continue
            found = group.compiles[-1].against.differences if group.compiles[-1].against else ()
            rules = [
                _supported(each, changes[group.place, group.cause, each.what, each.subject], rows) for each in found
            ]
            yield _changed(group, linted, next(filter(None, rules), ""))
        yield from map(_uncompared, undumped.values())


def _again(compiled: Compile, against: Comparison, process: Process) -> bool:
    """Whether it is a recompile.

    Not where the two are different parts of one step, which the line asks for one after the other.
    """
    return not (against.structure and compiled.beside and process.barriers)


def _growing(process: Process) -> set[int]:
    """The compiles, by identity, that continue a graph which nothing cuts: each has all that the one before had."""
    found: set[int] = set()
    chains: dict[Hashable, list[Compile]] = defaultdict(list)
    for each in process.compiles:
        chain = chains[each.stack, each.cause]
        if chain and not (each.grows and each.barriers == chain[-1].barriers and process.ran[chain[-1].graph] == 1):
            chain.clear()
        chain.append(each)
        if len(chain) > GROWN:
            found.update(map(id, chain[1:]))
    return found


def _uncompared(group: _Group) -> Reason:
    words = "no graph was dumped that could be compared"
    place = group.place
    return Reason(place.file, place.line, len(group.compiles), group.cause, words, False, (), (), "", "")


def _grown(group: _Group, linted: Linted) -> Reason:
    sizes = [group.compiles[0].against.operations] if group.compiles[0].against else []
    sizes += [each.operations for each in group.compiles]
    middle = " … " if len(sizes) > 3 else ", "
    words = f"its graphs grow, since no barrier cuts them: {sizes[0]}, {sizes[1]}{middle}{sizes[-1]} operations"
    symbol = linted.tied(UNCUT, [group.compiles[-1].stack])
    verdict = Verdict(symbol or MISSING, linted=bool(symbol))
    return Reason(
        group.place.file,
        group.place.line,
        len(group.compiles),
        group.cause,
        words,
        True,
        (),
        UNCUT,
        verdict.symbol,
        verdict.words,
    )


def _changed(group: _Group, linted: Linted, supported: str) -> Reason:
    last = group.compiles[-1]
    assert last.against is not None
    found = last.against.differences
    facts = tuple(map(told, found))
    words = "; and because ".join(each.words for each in facts) or (
        f"XLA was given the graph number {last.against.number} of the process once more, its {last.operations} "
        "operations and their values unchanged; what differs is known to torch_xla alone"
        if last.against.same
        else f"its {last.operations} operations were compared with those of the closest graph compiled here before, "
        f"number {last.against.number} of the process, and nothing that differs is understood"
    )
    allowed = tuple(dict.fromkeys(rule for each in found for rule in ALLOWED.get(each.what, ())))
    verdict = _verdict(group, found, linted, supported)
    return Reason(
        group.place.file,
        group.place.line,
        len(group.compiles),
        group.cause,
        words,
        bool(found),
        facts,
        allowed,
        verdict.symbol if verdict else "",
        verdict.words if verdict else "",
    )


def _verdict(group: _Group, found: Sequence[Difference], linted: Linted, supported: str) -> Verdict | None:
    """The rule of the likeliest difference: one that the linter finds too, else the one that the evidence supports."""
    for each in found:
        rules = ALLOWED.get(each.what, ())
        stacks = [stack for stack in (each.stack, group.compiles[-1].stack) if stack]
        if rules and (symbol := linted.tied(rules, stacks)):
            return Verdict(symbol, linted=True)
    return Verdict(supported, linted=False) if supported else None


def _supported(last: Difference, changes: Sequence[Difference], from_values: Collection[Frame]) -> str:
    """The rule that holds of what changed, whatever the program may look like; one more compile alone has none."""
    again = len(changes) > 1
    if last.what == SHAPE:
        if own(last.stack) in from_values:
            return DATA_DEPENDENT
        shapes = {each.before for each in changes} | {each.after for each in changes}
        was, now = dimensions(last.before), dimensions(last.after)
        if len(shapes) == 2 and was[1:] == now[1:] and now[:1] < was[:1]:
            return RAGGED
        return CHANGING_SHAPE if again else ""
    if last.what == LENGTH:
        return CHANGING_SHAPE if again else ""
    return CHANGING_CONSTANT if last.what == VALUE and again else ""


def _from_values(process: Process) -> set[Frame]:
    """The lines at which an operation without a lowering reads its inputs: what it gives may depend on values."""
    return {
        line.place.own for line in process.lines.values() if line.place.own is not None and line.manners["fallback"]
    }


def told(difference: Difference) -> Told:
    """A difference, with the user's own line."""
    place = own(difference.stack)
    if place is None or is_backend(place.file):  # a line of torch is no place to show
        return Told(difference.what, difference.words, difference.before, difference.after, "", 0)
    tensor = tensor_at(place.file, place.line) if difference.subject.startswith("input ") else ""
    return Told(difference.what, difference.words, difference.before, difference.after, place.file, place.line, tensor)
