"""Why graphs were compiled again: what was found to differ, grouped, with the rule that the evidence supports."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from xla_lint.runtime.causes import cause_of
from xla_lint.runtime.differences import LENGTH, OPERATIONS, SHAPE, VALUE
from xla_lint.runtime.findings import DATA_DEPENDENT, Verdict
from xla_lint.runtime.places import is_backend, own
from xla_lint.runtime.sizes import dimensions
from xla_lint.runtime.sources import tensor_at
from xla_lint.runtime.spans import GOVERNED, SAME_FUNCTION, UNTIED, Evidence

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence

    from xla_lint.runtime.collect import Compile, Process
    from xla_lint.runtime.differences import Difference
    from xla_lint.runtime.findings import Linted
    from xla_lint.runtime.places import Frame
    from xla_lint.runtime.sites import Comparison
    from xla_lint.runtime.spans import Span

CHANGING_SHAPE, CHANGING_CONSTANT, RAGGED = "xla-changing-shape", "xla-changing-constant", "xla-ragged-batch"
GROWING, MISSING = "xla-growing-tensor", "xla-missing-sync"
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
    evidence: tuple[Evidence, ...]
    """For each difference, the findings that may explain it."""

    def explained_by(self, span: Span) -> bool:
        """Whether a finding of the linter may explain it."""
        return any(each.tie(span) > UNTIED for each in self.evidence)


@dataclass(slots=True)
class Group:
    """Recompiles of one line for one reason."""

    place: Frame
    cause: str
    kinds: tuple[tuple[str, str], ...] = ()
    """What differs, and of what."""
    grows: bool = False
    """True where each continues a graph that nothing cuts."""
    compiles: list[Compile] = field(default_factory=list)

    @property
    def found(self) -> tuple[Difference, ...]:
        """What differed the last time; empty where it is not explained."""
        against = self.compiles[-1].against
        return against.differences if against else ()

    @property
    def evidence(self) -> Iterator[Evidence]:
        """For each difference, the findings that may explain it."""
        stack = self.compiles[-1].stack
        if self.grows:
            yield Evidence(UNCUT, (stack,), SAME_FUNCTION)
            return
        for each in self.found:
            rules = ALLOWED.get(each.what, ())
            if each.what == OPERATIONS and own(each.stack) is not None:  # what else is in their loop did not add them
                yield Evidence(rules, (each.stack,), GOVERNED)
            else:
                yield Evidence(rules, tuple(filter(None, (each.stack, stack))), SAME_FUNCTION)

    @property
    def reason(self) -> Reason:
        """What is said of them, without a rule."""
        found = () if self.grows else self.found
        rules = dict.fromkeys(rule for one in found for rule in ALLOWED.get(one.what, ()))
        return Reason(
            self.place.file,
            self.place.line,
            len(self.compiles),
            self.cause,
            _grown(self) if self.grows else _changed(self),
            self.grows or bool(found),
            tuple(map(told, found)),
            UNCUT if self.grows else tuple(rules),
            "",
            "",
            tuple(self.evidence),
        )


def reasons(processes: Iterable[Process], linted: Linted) -> Iterator[Reason]:
    """All of them, in the order in which they occurred first."""
    for process in processes:
        found = groups(process)
        changes: dict[Hashable, list[Difference]] = defaultdict(list)
        for group in found:
            for change in (one for each in group.compiles if each.against for one in each.against.differences):
                changes[group.place, group.cause, change.what, change.subject].append(change)
        rows = _from_values(process)
        for group in found:
            rules = [
                _supported(each, changes[group.place, group.cause, each.what, each.subject], rows)
                for each in group.found
            ]
            if RAGGED in rules and not _is_rarer(group.compiles[-1], process):
                rules.remove(RAGGED)
            verdict = _verdict(group, linted, next(filter(None, rules), ""))
            yield replace(group.reason, rule=verdict.symbol, seen=verdict.words) if verdict else group.reason


def groups(process: Process) -> list[Group]:
    """The recompiles of a process."""
    growing = _growing(process)
    compared: dict[Hashable, Group] = {}
    undumped: dict[Hashable, Group] = {}
    for each in process.compiles:
        place = each.place.own
        if place is None:
            continue
        cause = cause_of(each.cause).words
        if each.missing:
            undumped.setdefault((place, cause), Group(place, cause)).compiles.append(each)
        grows = id(each) in growing
        if each.against is None or not (grows or _again(each, each.against, process)):
            continue
        kinds = () if grows else tuple((one.what, one.subject) for one in each.against.differences)
        compared.setdefault((place, cause, grows, kinds), Group(place, cause, kinds, grows)).compiles.append(each)
    return [*compared.values(), *undumped.values()]


def _again(compiled: Compile, against: Comparison, process: Process) -> bool:
    """Whether it is a recompile.

    Not where the two are different parts of one step, which the line asks for one after the other.
    """
    return not (against.other and compiled.beside and process.barriers)


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


def _grown(group: Group) -> str:
    sizes = [group.compiles[0].against.operations] if group.compiles[0].against else []
    sizes += [each.operations for each in group.compiles]
    middle = " … " if len(sizes) > 3 else ", "
    return f"its graphs grow, since no barrier cuts them: {sizes[0]}, {sizes[1]}{middle}{sizes[-1]} operations"


def _changed(group: Group) -> str:
    last = group.compiles[-1]
    if last.against is None:
        return "no graph was dumped that could be compared"
    return "; and because ".join(each.words for each in group.found) or (
        f"XLA was given the graph number {last.against.number} of the process once more, its {last.operations} "
        "operations and their values unchanged; what differs is known to torch_xla alone"
        if last.against.same
        else f"its {last.operations} operations were compared with those of the closest graph compiled here before, "
        f"number {last.against.number} of the process, and nothing that differs is understood"
    )


def _verdict(group: Group, linted: Linted, supported: str) -> Verdict | None:
    """The rule of the likeliest difference: one that the linter finds too, else the one that the evidence supports."""
    symbol = next(filter(None, map(linted.tied, group.evidence)), "")
    supported = MISSING if group.grows else supported
    return Verdict(symbol or supported, linted=bool(symbol)) if symbol or supported else None


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


def _is_rarer(compiled: Compile, process: Process) -> bool:
    """Whether it ran no more often than what it is compared with, as a last batch does."""
    graphs = {each.number: each.graph for each in process.compiles}
    before = graphs.get(compiled.against.number, "") if compiled.against else ""
    return process.ran[compiled.graph] <= process.ran[before]


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
