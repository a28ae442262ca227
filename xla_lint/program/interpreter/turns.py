"""Loops: a body runs until what it carries round is known."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.contexts import Condition
from xla_lint.program.domain.environment import changes
from xla_lint.program.domain.events import HostChoice
from xla_lint.program.domain.join import join_all, told_apart_by
from xla_lint.program.domain.loaders import Loader
from xla_lint.program.domain.locations import device_tensors
from xla_lint.program.domain.loops import Cut
from xla_lint.program.domain.objects import hides_loader, note_loaders
from xla_lint.program.domain.state import Exits, meet_all
from xla_lint.program.domain.values import (
    NONE,
    UNKNOWN,
    Choice,
    Instance,
    Location,
    Mapping,
    Number,
    Sequence,
    Stream,
    Tensor,
    Text,
    Trait,
    options,
)
from xla_lint.program.domain.walk import tensors_in
from xla_lint.program.interpreter.branches import test_of
from xla_lint.program.interpreter.conditions import narrow
from xla_lint.program.interpreter.probing import probe_each
from xla_lint.program.interpreter.records import turning
from xla_lint.program.interpreter.totals import look_for_growth, stored_since
from xla_lint.program.interpreter.truth import truth_of_number
from xla_lint.program.machine.meanings import statement
from xla_lint.program.syntax.loop_bodies import attributes_set, counts_of
from xla_lint.program.syntax.takeover import taken_over

if TYPE_CHECKING:
    from collections.abc import Callable

    from xla_lint.program.domain.loops import Loop
    from xla_lint.program.domain.state import State
    from xla_lint.program.domain.values import Value
    from xla_lint.program.machine.machine import Machine


MOST_TURNS = 3
"""How often a loop's body is run at most, until what it carries round is known."""
MOST_RUNS = MOST_TURNS**3
"""From so many runs of one loop's body on, in loops around that come round again, it is run once each time."""


@statement(nodes.For, nodes.AsyncFor)
def for_(machine: Machine, node: nodes.For) -> None:
    settings = attributes_set(node)
    if settings is not None and set_each(machine, node, machine.evaluate(settings)):
        return
    iterable = machine.evaluate(node.iter)
    if probe_each(machine, node, iterable):
        return
    loop = machine.loop_of(node)
    note_loaders(loop, iterable)
    random = isinstance(iterable, Stream) and any(
        isinstance(o, Number) and Condition.RANDOM in truth_of_number(o).if_true for o in options(iterable.stop or NONE)
    )

    def head() -> bool:
        machine.bind(node.target, turning(machine, machine.iterate(iterable, loop, node.iter), loop))
        return True

    operations = machine.operations
    run_loop(machine, node, loop, head)
    if random and machine.operations > operations and machine.at.state is not None:
        machine.emit(HostChoice(node.iter, machine.context, "loop count"))


def set_each(machine: Machine, node: nodes.For, settings: Value) -> bool:
    """Run a loop that sets attributes once for each; False where not all of them are known."""
    if not isinstance(settings, Mapping) or settings.element is not None:
        return False
    for name, value in list(settings.entries.items()):
        machine.bind(node.target, Sequence([Text(name), value], frozen=True))
        machine.run(node.body)
    return True


@statement(nodes.While)
def while_(machine: Machine, node: nodes.While) -> None:
    loop = machine.loop_of(node)
    random, operations = False, machine.operations

    def head() -> bool:
        nonlocal random
        truth = test_of(machine, node.test)
        random = Condition.RANDOM in truth.if_true
        with machine.elsewhere(loops=machine.at.loops[:-1]):  # what decides whether it goes on holds in all its turns
            machine.assume(truth.if_true - {Condition.PERIODIC, Condition.ONCE})
        narrow(machine, truth.narrow_true)
        return truth.known is not False

    run_loop(machine, node, loop, head)
    if random and machine.operations > operations and machine.at.state is not None:
        machine.emit(HostChoice(node.test, machine.context, "loop count"))


def run_loop(machine: Machine, node: nodes.For | nodes.While, loop: Loop, head: Callable[[], bool]) -> None:
    """Run a loop's body once, and again where what lives on the device comes round changed.

    `head` begins a turn, and says whether there may be one.
    """
    entry = machine.here
    outer_cut, outer_phase, path_condition = entry.cut, entry.phase, entry.path_condition
    widen(machine, node, loop)
    before = entry.fork()
    exits = Exits()
    frame_exits = machine.at.frame.exits
    frame_exits.append(exits)
    end: State | None = None
    most = MOST_TURNS if loop.turn < MOST_RUNS else 1
    for turn in range(most):
        start = before.fork()
        start.cut, start.phase = Cut.NEVER, None
        machine.at.state = start
        loop.begin_turn()
        exits.breaks.clear()
        exits.continues.clear()
        mark = machine.heap.mark()
        with machine.inside(loop):
            if head():
                machine.run(node.body)
            end = meet_all([machine.at.state, *exits.continues])
            if end is None:
                break
            loop.end_turn(end.cut)
            names, stored = changes(before.env, end.env)[0], stored_since(machine, mark)
            pairs = [*((before.env[name], end.env[name]) for name in names), *stored]
            again = carries(machine, pairs, mark)
            if not loop.carries and leaves_pending(machine, node, end, names, [new for _, new in stored]):
                loop.note_carried()
            look_for_growth(machine, loop, pairs)
        if not again or turn == most - 1:
            break
        round_again = end.fork()
        before = before.meet(round_again)
    frame_exits.pop()
    if loop.wrapped and end is not None:
        machine.at.state = end
        end.path_condition = path_condition
        machine.barrier(node.iter if isinstance(node, nodes.For) else node, "next()", silent=True)
    elif end is not None and loop.iterable is not None and hides_loader(loop.iterable):
        end.updated = entry.updated  # its last `next()` may have been a barrier
    if loop.parent is not None and loop.opaque:
        loop.parent.note_opaque()
    machine.at.state = meet_all([end, *exits.breaks]) or (entry if not exits.breaks else None)
    if machine.at.state is None:
        return
    after = machine.at.state
    passed = after.cut if end is not None else Cut.NEVER
    after.cut = outer_cut if passed is Cut.NEVER else max(outer_cut, passed)
    after.phase = outer_phase
    after.path_condition = path_condition
    settle(after, node, loop)
    if node.orelse:
        machine.run(node.orelse)


def widen(machine: Machine, node: nodes.For | nodes.While, loop: Loop) -> None:
    """Forget the values of numbers that the body assigns: they change from turn to turn."""
    env = machine.here.env
    counts = counts_of(node)
    for name, advances in counts.names:
        value = env.get(name)
        if isinstance(value, (Number, Choice)):
            env[name] = join_all(widened(option, loop if advances else None) for option in options(value))
    for owner, name in counts.slots:
        for holder in options(machine.quietly(owner)):
            slots = slots_of(holder)
            value = slots.get(name)
            if isinstance(value, Number):
                machine.heap.put(slots, name, Number(None, value.loops | {loop}))


def settle(after: State, node: nodes.For | nodes.While, loop: Loop) -> None:
    """Let what a loop has counted change with it no more."""
    for name, advances in counts_of(node).names:
        value = after.env.get(name)
        if advances and isinstance(value, Number) and loop in value.loops:
            after.env[name] = replace(value, loops=value.loops - {loop})


def widened(value: Value, loop: Loop | None) -> Value:
    """A number whose value is forgotten; with `loop`, one that changes with its turns. Other values stay."""
    if not isinstance(value, Number):
        return value
    return Number(None, value.loops | {loop} if loop is not None else value.loops, value.traits)


def slots_of(holder: Value) -> dict[str, Value]:
    """What an object or a dict holds, by attribute or key."""
    if isinstance(holder, Instance):
        return holder.attributes
    return holder.entries if isinstance(holder, Mapping) else {}


def leaves_pending(
    machine: Machine, node: nodes.For | nodes.While, end: State, names: list[str], stored: list[Value]
) -> bool:
    """Whether the next turn needs what this one recorded: in a name that it reads, or in a shared object."""
    if any(is_open(value, end) for value in stored):
        return True
    pending = [name for name in names if is_open(end.env[name], end)]
    return bool(pending) and not taken_over(node, machine.index).isdisjoint(pending)


def is_open(value: Value, state: State) -> bool:
    """Whether something on the device that no barrier has cut off yet is part of a value."""
    return any(t.place is Location.DEVICE and t.is_pending(state.epochs, state.materialised) for t in tensors_in(value))


def carries(machine: Machine, pairs: list[tuple[Value, Value]], mark: int) -> bool:
    """Whether something that lived before the turn is of another kind after it, and matters to the next one.

    It is on the device, was read from there, or is a loader. `pairs` are the values before and after the turn of what
    it changed.
    """
    if any(key == "moves" for _, key, _ in machine.heap.since(mark)):
        return True
    if any(isinstance(old, Number) and isinstance(new, Number) and new.loops - old.loops for old, new in pairs):
        return True
    return any(differs(old, new) and (decides(new) or device_tensors([new])) for old, new in pairs)


def decides(value: Value) -> bool:
    """Whether a value may send the next turn another way that this one could not, give it batches, or grow with it."""
    if isinstance(value, Tensor):
        return bool(value.sites)
    return isinstance(value, Loader) or (isinstance(value, Number) and Trait.DATA in value.traits)


def differs(old: Value, new: Value) -> bool:
    """Whether a value that comes round again is of another kind than the one before."""
    if old is new:
        return False
    if type(old) is not type(new):
        return not (isinstance(old, Number) and new is UNKNOWN)
    if isinstance(old, Tensor) and isinstance(new, Tensor):
        return told_apart_by(old) != told_apart_by(new)
    if isinstance(old, Sequence) and isinstance(new, Sequence):
        if old.items is not None and new.items is not None and len(old.items) == len(new.items):
            return any(differs(a, b) for a, b in zip(old.items, new.items, strict=True))
        return differs(join_all(old.items or [old.element]), join_all(new.items or [new.element]))
    if isinstance(old, Instance) and isinstance(new, Instance):
        return old.cls is not new.cls or old.place is not new.place
    if isinstance(old, Loader) and isinstance(new, Loader):
        return old.node is not new.node
    if isinstance(old, Choice) and isinstance(new, Choice):
        return len(old.options) != len(new.options)
    return False


@statement(nodes.Break)
def break_(machine: Machine, _: nodes.Break) -> None:
    if machine.at.frame.exits:
        machine.at.frame.exits[-1].breaks.append(machine.here)
    machine.at.state = None


@statement(nodes.Continue)
def continue_(machine: Machine, _: nodes.Continue) -> None:
    if machine.at.frame.exits:
        machine.at.frame.exits[-1].continues.append(machine.here)
    machine.at.state = None
