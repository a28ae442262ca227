"""Running a function of the project."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.compilations import LEFT_OUT
from xla_lint.program.domain.contexts import CallSite, Condition
from xla_lint.program.domain.definitions import Function, Generator
from xla_lint.program.domain.events import CompiledCall, InferenceMode
from xla_lint.program.domain.join import join_all, per_replica
from xla_lint.program.domain.loops import Cut
from xla_lint.program.domain.objects import is_undecided, resolved
from xla_lint.program.domain.state import Frame, meet_all
from xla_lint.program.domain.values import NONE, UNKNOWN, Instance, Mapping, Number, Sequence, Trait
from xla_lint.program.domain.walk import nesting
from xla_lint.program.interpreter.backend_flags import stated
from xla_lint.program.interpreter.seeds import brought, with_evidence
from xla_lint.program.interpreter.truth import parting
from xla_lint.program.machine.boundary import Boundary
from xla_lint.program.machine.limits import MOST_CALLS, Limit
from xla_lint.program.machine.meanings import calling, statement
from xla_lint.program.machine.memo import SIBLINGS, rebased

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from xla_lint.program.domain.loops import Loop
    from xla_lint.program.domain.values import Value
    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.machine import Machine
    from xla_lint.program.machine.memo import Remembered


@calling(Function)
def call_function(machine: Machine, function: Function, arguments: Arguments) -> Value:
    """The result of calling a function of the project."""
    node, active, limits = function.node, machine.at.active, machine.limits
    if len(active) >= MOST_CALLS:
        limits.give_up(Limit.CALLS, arguments.node)
        return machine.unknown_path()
    if (active.count(node) > 1 and not descends(machine, function, arguments)) or limits.exhausted(arguments.node):
        return machine.unknown_path()
    bound = bind_parameters(function, arguments)
    with_evidence(machine, function, bound, arguments)
    if function.frame.index is not None and node in function.frame.index.generators:
        return Generator(function, bound)
    return machine.run_function(function, bound, arguments.node)


def descends(machine: Machine, function: Function, arguments: Arguments) -> bool:
    """Whether a function calls itself with a part of what it was given, which ends with the innermost part."""
    if machine.at.frame.node is not function.node:
        return False
    names = [parameter.name for parameter in function.node.args.arguments]
    whole = [machine.here.env[name] for name in names if name in machine.here.env]
    return max(map(nesting, arguments.values()), default=0) < max(map(nesting, whole), default=0)


def run_function(machine: Machine, function: Function, bound: dict[str, Value], node: nodes.NodeNG) -> Value:
    """The result of a call: remembered, where the same was called before and changed nothing."""
    memo = machine.memo
    plain = memo.plain_key(function, bound, machine.heap.version)
    if plain is not None and (result := memo.recall_plain(plain)) is not None:
        return result
    if is_exhausted(machine, function):
        if function.node in memo.effectful:
            machine.opaque()
        return memo.usual_result(function, machine.here)
    bound = memo.widened(function, bound)
    key = memo.key(function, bound, machine.here, machine.heap, surroundings(machine, node))
    if key is not None and (known := memo.recall(key)) is not None:
        return replayed(machine, known)
    heap = machine.heap
    mark, version, operations, events = heap.mark(), heap.version, machine.operations, len(machine.events)
    errors, begun = len(machine.errors), machine.here.epochs
    opaque = [loop.opaque for loop in machine.loops[-1:]]
    if function.compiled:
        machine.barrier(node, compiler_of(machine), silent=True)
    if machine.at.compiled is None and function.compilation not in (None, LEFT_OUT):
        machine.emit(CompiledCall(node, machine.context, function.compilation, function.node, dict(bound)))
    with traced_body(machine, function):
        result, _ = machine.activate(function, bound, site(machine, function, node))
    if function.compiled:
        machine.barrier(node, compiler_of(machine), silent=True)
    memo.note_result(function, result, machine.here)
    if len(machine.errors) > errors:
        memo.effectful.add(function.node)
        return result
    if machine.here.epochs != begun or opaque != [loop.opaque for loop in machine.loops[-1:]]:
        memo.effectful.add(function.node)
    elif plain is not None and (mark, operations, events) == (heap.mark(), machine.operations, len(machine.events)):
        memo.remember_plain(plain, result)
    if key is not None and version == heap.version and not heap.kept_tensors(mark):
        memo.remember(key, result, begun, machine.here.among({}), machine.operations - operations)
    return result


@contextmanager
def traced_body(machine: Machine, function: Function) -> Iterator[None]:
    """Stand where a function's body is traced by a compiler, if it is: by the one around, or by its own."""
    before = machine.at.compiled
    if function.compilation is LEFT_OUT:
        machine.at.compiled = None
    elif before is None and function.compilation is not None:
        machine.at.compiled = function.compilation
    if function.inference is not None and machine.at.compiled is not None:
        machine.emit(InferenceMode(function.inference, machine.context, function.node))
    yield
    machine.at.compiled = before


def compiler_of(machine: Machine) -> str:
    """How the program's backend calls what compiles functions."""
    return next(iter(machine.backend.names(Role.COMPILE)), "torch.compile")


def is_exhausted(machine: Machine, function: Function, siblings: int = SIBLINGS) -> bool:
    """Whether a function was run so often that it is followed no more, which is noted; `siblings` as in `Memo`."""
    aside = machine.without_caller and not machine.loops
    exhausted = machine.memo.exhausted(function, loop_around(machine), aside=aside, siblings=siblings)
    if exhausted:
        machine.limits.give_up(Limit.RUNS, function.node)
    return exhausted


def loop_around(machine: Machine) -> nodes.NodeNG | None:
    """The innermost loop's node; None outside loops."""
    return machine.loop.node if machine.loop is not None else None


def surroundings(machine: Machine, node: nodes.NodeNG) -> tuple[Any, ...]:
    """What else can make a difference to what a call does.

    Under a test on the rank each call counts for itself, since what it reaches is reported at the call.
    """
    divided = any(c.condition in (Condition.RANK, Condition.DATA) for c in machine.here.path_condition)
    return machine.setting, machine.loops, machine.at.doubt, node if divided else None


def replayed(machine: Machine, known: Remembered) -> Value:
    """What a call returns that was made before, with the state moved as it moved it."""
    state = machine.here
    epochs, materialised, newest, touched = state.epochs, state.materialised, max(state.epochs), state.touched
    state.take_course(known.after)
    state.touched = state.touched.after_a_test(touched)
    if known.cut:
        fresh = machine.new_epoch()
        moved = {max(known.after.epochs): fresh}
        state.epochs = frozenset({fresh}) if known.after.cut is Cut.ALWAYS else epochs | {fresh}
        state.materialised = frozenset()
    else:
        moved = {known.begun: newest}
        state.epochs, state.materialised = epochs, materialised
    machine.operations += known.operations
    return rebased(known.result, moved)


def site(machine: Machine, function: Function, node: nodes.NodeNG) -> CallSite:
    """The call of a function, as a message shows it."""
    return CallSite(function.name, int(node.lineno or 0), len(machine.at.loops), node, machine.at.frame.function)


def activate(
    machine: Machine,
    function: Function,
    bound: dict[str, Value],
    call: CallSite | None = None,
    on_yield: Callable[[Value], None] | None = None,
    consumer: Loop | None = None,
) -> tuple[Value, Frame]:
    """Run a function's body; what it returns, and its frame with what it yielded."""
    machine.visited.add(function.node)
    machine.memo.runs[function.node] += 1
    outer, entry, work = machine.at, machine.here, machine.limits.work
    outer.frame.env = entry.env
    frame = frame_of(function, bound, len(outer.loops))
    frame.on_yield, frame.consumer = on_yield, consumer
    course = entry.among(bound)
    course.grad = entry.grad and not function.no_grad
    machine.at = outer.entering(frame, course, call)
    if function.ranked:
        machine.assume([Condition.RANK])
    if isinstance(function.receiver, Instance) and function.receiver.optional:
        machine.assume([Condition.SETTING])
    with Boundary(machine, function.node) as boundary:
        if isinstance(function.node, nodes.Lambda):
            frame.returns.append((machine.evaluate(function.node.body), machine.here))
        else:
            machine.run(function.node.body)
            if machine.at.state is not None:
                frame.returns.append((NONE, machine.at.state))
    outer.replicated = machine.at.replicated
    machine.at = outer
    machine.memo.note_run(function, loop_around(machine), work - machine.limits.work)
    if boundary.failed:
        frame.returns.clear()
        machine.opaque()
    if not frame.returns:
        return UNKNOWN, frame
    end = meet_all(state for _, state in frame.returns)
    assert end is not None
    frame.env = end.env
    entry.take_course(end)
    values = [value for value, _ in frame.returns]
    result = join_all(values)
    conditions = {
        constraint.condition for _, state in frame.returns for constraint in state.path_condition - entry.path_condition
    }
    apart = parting(conditions)
    return (per_replica(result, values, apart) if apart else result), frame


def frame_of(function: Function, bound: dict[str, Value], depth: int) -> Frame:
    """A frame in which a function's body runs, with so many loops around its call."""
    home = function.frame
    return Frame(bound, home, function, function.owner, function.node, home.module, home.index, depth)


def bind_parameters(function: Function, arguments: Arguments) -> dict[str, Value]:
    """The parameters of a function with the arguments of a call; what is missing and has no default is unknown."""
    spec = function.node.args
    names = [a.name for a in (*(spec.posonlyargs or []), *(spec.args or []))]
    positional = [*function.leading, *arguments.positional]
    if function.receiver is not None and not function.static:
        positional.insert(0, function.receiver)
    bound: dict[str, Value] = dict(zip(names, positional, strict=False))
    if spec.vararg:
        extra = positional[len(names) :]
        open_end = arguments.unpacked
        bound[spec.vararg] = Sequence(None if open_end else extra, join_all(extra), True)
    keywords = dict(arguments.keywords)
    for name in (*names, *(a.name for a in spec.kwonlyargs or [])):
        if name in keywords:
            bound[name] = keywords.pop(name)
        elif name not in bound:
            default = function.defaults.get(name, UNKNOWN)
            bound[name] = left_alone(default) if not arguments.unpacked else brought(function, name, arguments, default)
    if spec.kwarg:
        rest = keywords.pop("**", None)
        kept = {name: value for name, value in function.defaults.items() if name not in bound}
        bound[spec.kwarg] = Mapping(
            {**kept, **keywords}, rest if rest is not None else (UNKNOWN if arguments.unpacked else None)
        )
    index = function.frame.index
    for name, value in bound.items() if index is not None else ():
        if index is not None and is_undecided(value):
            bound[name] = resolved(value, index.uses(function.node).get(name))
    return bound


def left_alone(default: Value) -> Value:
    """A default that a call leaves: what it decides is known for this call alone."""
    if isinstance(default, Number) and isinstance(default.const, bool) and not default.traits:
        return replace(default, traits=frozenset({Trait.DEFAULT}))
    return default


@statement(nodes.Return)
def return_(machine: Machine, node: nodes.Return) -> None:
    value = stated(machine, node.value, machine.evaluate(node.value)) if node.value is not None else NONE
    if machine.at.state is not None:
        machine.at.frame.returns.append((value, machine.at.state))
    machine.at.state = None
