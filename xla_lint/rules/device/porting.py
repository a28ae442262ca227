"""What the fixes of a move do: a use of the old backend becomes what the table of its successors has word by word."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from astroid import nodes

from xla_lint.fixes.changes import ChangeCall, Drop, Fix, Guard, Name, Remove, Span, Unimport, Unwrap, Write
from xla_lint.knowledge.successors import Caveat, Group, Stands
from xla_lint.program.backend import package_of, role_of
from xla_lint.program.backend.backend import Mode, Role
from xla_lint.program.domain.events import ForeignName, LibraryCall, Read
from xla_lint.rules.arguments import is_spelled_out
from xla_lint.rules.reads.selection import Cost, cost_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from xla_lint.fixes.changes import Change
    from xla_lint.knowledge.successors import Form, Successor
    from xla_lint.program.domain.events import Event
    from xla_lint.program.queries import Program

PROCESSES = "torch.distributed."
JOIN = PROCESSES + "init_process_group"
ASKED = (PROCESSES + "get_", PROCESSES + "is_")
"""What only asks the process group."""
REDUCING = (
    "torch.nn.parallel.DistributedDataParallel",
    "torch.distributed.fsdp.fully_shard",
    "torch.distributed.fsdp.FullyShardedDataParallel",
)
"""What reduces gradients in the backward pass."""
INSTEAD = Fix("write what takes its place", safe=True)
DROPPED = Fix("drop it: nothing takes its place", safe=True)
PRINTS_ALONE = Fix("print on rank 0, which then is the only one to work out what it prints", safe=False)
CAVEATS = {
    Caveat.GROUP: Fix("ask the process group, which the program must have joined by then", safe=False),
    Caveat.GRADIENTS: Fix("call step() of the optimizer: something else must reduce the gradients", safe=False),
    Caveat.EACH_HOST: Fix("ask for rank 0 of all hosts, where it was the first of each host", safe=False),
}
FIXES = (INSTEAD, DROPPED, PRINTS_ALONE, *CAVEATS.values())
PART = re.compile(r"<([\w.]+)(?::([\w.*]+))?>")
"""What stands for something importable, or for an argument, in what a form writes."""


class Port(NamedTuple):
    """What becomes of one use."""

    fix: Fix
    change: Change


def port_of_name(event: ForeignName, answer: Successor, program: Program) -> Port | None:
    """What a use of a name becomes, None where that is not mechanical."""
    if isinstance(event.node, (nodes.Import, nodes.ImportFrom)):
        package = package_of(event.dotted)
        return Port(DROPPED, Unimport(Span.of(event.node), package)) if package is not None else None
    for form in answer.forms:
        place = _standing(event.node, form.stands)
        arguments = _fitting(place, form) if place is not None else None
        if place is not None and arguments is not None:
            fix = _fix(event, form, place, program)
            change = _change(place, form, event.dotted, arguments)
            return Port(fix, change) if fix is not None and change is not None else None
    return None


def port_of_text(call: LibraryCall, slot: tuple[int, str], text: str, answer: Successor) -> Port | None:
    """What a text that a call is given becomes: another one, or no argument any more."""
    node, (position, name) = call.node, slot
    if not is_spelled_out(node):
        return None
    if answer.group is Group.GONE:
        return Port(DROPPED, ChangeCall(Span.of(node), (Drop(name, position),)))
    by_name = next((keyword.value for keyword in node.keywords if keyword.arg == name), None)
    given = node.args[position] if 0 <= position < len(node.args) else by_name
    if not isinstance(given, nodes.Const) or given.value != text or answer.name != text or answer.becomes is None:
        return None
    return Port(INSTEAD, Write(Span.of(given), (answer.becomes,)))


def _standing(node: nodes.NodeNG, stands: Stands) -> nodes.NodeNG | None:
    """What of the source a form is about where a name stands; None where it is about another way of using it."""
    parent = node.parent
    if stands is Stands.NAME:
        return node
    if stands is Stands.DECORATOR:
        return node if isinstance(parent, nodes.Decorators) else None
    if parent is None or not (is_spelled_out(parent) and parent.func is node):
        return None
    around = parent.parent
    if stands is Stands.STATEMENT:
        return parent if isinstance(around, nodes.Expr) else None
    if stands is Stands.CONTEXT:
        return around if isinstance(around, nodes.With) and around.items == [(parent, None)] else None
    return parent


def _fitting(place: nodes.NodeNG, form: Form) -> dict[str, nodes.NodeNG] | None:
    """The arguments of a call that a form writes, by parameter; None where the call is not of the form."""
    if not isinstance(place, nodes.Call):
        return {}
    named: dict[str, nodes.NodeNG] = {str(keyword.arg): keyword.value for keyword in place.keywords}
    if form.parameters is None:
        return {} if form.without.isdisjoint(named) else None
    if len(place.args) > len(form.parameters):
        return None
    named.update(zip(form.parameters, place.args, strict=False))
    written = {name for name, attribute in PART.findall(form.writes or "") if not attribute}
    given = {name: value for name, value in form.given if name in named and named[name].as_string() == value}
    if not named.keys() <= written | form.ignores | given.keys():
        return None
    return named if written | dict(form.given).keys() <= named.keys() else None


def _change(place: nodes.NodeNG, form: Form, dotted: str, arguments: dict[str, nodes.NodeNG]) -> Change | None:
    at = Span.of(place)
    if form.writes is None:
        return Unwrap(at) if isinstance(place, nodes.With) else Remove(at)
    parts = tuple(_parts(form.writes, dotted, arguments))
    if form.under is not None:
        return Guard(at, parts, tuple(_parts(form.under, dotted, arguments)))
    return Write(at, parts)


def _parts(written: str, dotted: str, arguments: dict[str, nodes.NodeNG]) -> Iterator[str | Name | Span]:
    """What a form writes, in parts."""
    end = 0
    for found in PART.finditer(written):
        if found.start() > end:
            yield written[end : found.start()]
        name, attribute = found.groups()
        if attribute is None:
            yield Span.of(arguments[name])
        else:
            alias = "dist" if name == "torch.distributed" else None
            yield Name(name, attribute.replace("*", dotted.rpartition(".")[2]), alias)
        end = found.end()
    if end < len(written):
        yield written[end:]


def _fix(event: ForeignName, form: Form, place: nodes.NodeNG, program: Program) -> Fix | None:
    """The fix that a form is at a place; None where it would not say the same."""
    if role_of(event.dotted) is Role.BARRIER and (program.mode is Mode.FUSED or hides_a_read(event, program)):
        return None
    if form.caveat in (Caveat.GROUP, Caveat.EACH_HOST) and event.node in program.once(before_joining):
        return None
    inner = {call for call in place.nodes_of_class(nodes.Call) if call is not place}
    if form.under is not None and inner:
        return None if meets_others(inner, program) else PRINTS_ALONE
    if form.caveat is Caveat.GROUP:
        if not program.has_call(JOIN):
            return CAVEATS[form.caveat]
    elif form.caveat is Caveat.GRADIENTS:
        return INSTEAD if program.has_call(*REDUCING) else CAVEATS[form.caveat]
    elif form.caveat is not None:
        return CAVEATS[form.caveat]
    return INSTEAD if form.writes is not None else DROPPED


def before_joining(program: Program) -> frozenset[nodes.NodeNG]:
    """Where names of the old backend are used before the program joins a process group; nowhere where it never does."""
    early: list[nodes.NodeNG] = []
    for event in program.events:
        if isinstance(event, LibraryCall) and event.name == JOIN:
            return frozenset(early)
        if isinstance(event, ForeignName):
            early.append(event.node)
    return frozenset()


def meets_others(calls: Collection[nodes.NodeNG], program: Program) -> bool:
    """Whether calls may wait for other replicas, or use another name of the old backend, which comes first."""
    functions = {call.func for call in calls if isinstance(call, nodes.Call)}
    if any(event.node in functions for event in program.of(ForeignName)):
        return True
    meetings = program.calls_where(lambda name: name.startswith(PROCESSES) and not name.startswith(ASKED))
    return any(call.node in calls or any(site.node in calls for site in call.context.stack) for call in meetings)


def hides_a_read(barrier: ForeignName, program: Program) -> bool:
    """Whether the host reads in every step what a barrier before it has had executed."""
    loops = barrier.context.loops
    if not loops:
        return False
    reads = (event for event in program.inside(loops[-1]) if isinstance(event, Read))
    place = _way(barrier)
    return any(_way(read) > place and cost_of(read, program) is Cost.FULL for read in reads)


def _way(event: Event) -> tuple[int, ...]:
    """The lines of the calls on the way to an event, and its own."""
    return (*(site.line for site in event.context.stack), int(event.node.lineno or 0))
