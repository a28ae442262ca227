"""What statements mean: assignment, branches, loops, `with`, `try`, definitions. One pass, path by path."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from astroid import nodes

from xla_lint.program.domain.definitions import Class, Function, Imported, ModuleValue
from xla_lint.program.domain.events import Condition, GradientSet, Growing, History, HostChoice, How
from xla_lint.program.domain.heap import Changes, current
from xla_lint.program.domain.join import element_of, join, join_all, told_apart_by
from xla_lint.program.domain.loaders import Loader
from xla_lint.program.domain.loops import Cut, Loop
from xla_lint.program.domain.objects import key_of, note_loaders
from xla_lint.program.domain.state import Frame, State, meet_all
from xla_lint.program.domain.values import (
    NONE,
    UNKNOWN,
    Choice,
    Instance,
    Location,
    Mapping,
    Name,
    Number,
    Sequence,
    Stream,
    Tensor,
    Text,
    Trait,
    Value,
    options,
)
from xla_lint.program.domain.walk import bounded, tensors_in
from xla_lint.program.interpreter.calls import Calls
from xla_lint.program.interpreter.expressions import OPERATORS, Slice, Truth, combine, truth_of_number
from xla_lint.program.interpreter.internal_errors import Boundary
from xla_lint.program.machine.machine import Arguments, device_tensors, source_of
from xla_lint.program.syntax.index import advances, last_name
from xla_lint.program.syntax.names import canonical, is_foreign, is_standard

if TYPE_CHECKING:
    from pathlib import Path

    from xla_lint.program.project.project import Project
    from xla_lint.program.project.scope import Version

MOST_MODULES = 40
"""How many modules of the project one program's analysis runs at most."""
GRADIENT = "grad"
"""The attribute of a tensor that holds its gradient."""
DEFINITIONS = (nodes.FunctionDef, nodes.ClassDef, nodes.Import, nodes.ImportFrom)
MOST_TURNS = 3
"""How often a loop's body is run at most, until what it carries round is known."""


@dataclass(slots=True)
class Exits:
    """The states in which a loop's body was left early."""

    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)


class Flow(Calls):
    """Execution of statements."""

    def __init__(
        self, module: nodes.Module, project: Project, target: Version, budget: int, *, assume_device: bool
    ) -> None:
        super().__init__(module, project, target, budget, assume_device=assume_device)
        self._turns: dict[nodes.NodeNG, dict[Loop, int]] = {}
        self._confirmed: set[tuple[nodes.NodeNG, Loop]] = set()
        self._numbers: dict[nodes.NodeNG, tuple[list[tuple[str, bool]], list[tuple[nodes.NodeNG, str]]]] = {}

    def run(self, body: Iterable[nodes.NodeNG]) -> None:
        for node in body:
            if self.state is None:
                return
            self.ran.add(node)
            handler = _STATEMENTS.get(type(node))
            if handler is not None:
                handler(self, node)
            else:
                self.evaluate(node)

    def run_definitions(self, body: Iterable[nodes.NodeNG]) -> None:
        """Run the statements of a module or a class; after one that fails, what it defines and imports."""
        whole = True
        for node in body:
            if self.state is None:
                return
            if whole or isinstance(node, DEFINITIONS):
                with Boundary(self, node) as boundary:
                    self.run([node])
                if boundary.failed:
                    whole = False
                    self.opaque()

    # Assignment.

    def _expression(self, node: nodes.Expr) -> None:
        self.evaluate(node.value)

    def _assign(self, node: nodes.Assign) -> None:
        value = self._as_total(node, self.evaluate(node.value))
        for target in node.targets:
            self.bind(target, value)

    def _annotated(self, node: nodes.AnnAssign) -> None:
        if node.value is not None:
            self.bind(node.target, self.evaluate(node.value))

    def _augmented(self, node: nodes.AugAssign) -> None:
        target = node.target
        left = self._target_value(target)
        if isinstance(target, nodes.Subscript) and isinstance(target.slice, nodes.Const):
            self._appear(target, left)
        right = self.evaluate(node.value)
        op = node.op.removesuffix("=")
        if isinstance(left, Sequence) and not left.frozen and op == "+":
            self.extend(left, right, node)
            return
        value = self.own_operator(node, f"__i{OPERATORS[op]}__", left, right)
        if value is None:
            value = self.binary(node, op, left, right)
            value = self._with_history(node, target, left, right, value)
        self.bind(target, value)

    def _appear(self, target: nodes.Subscript, value: Value) -> None:
        """Let a key exist that a `defaultdict` makes when it is first asked for."""
        key = key_of(self.quietly(target.slice))
        for option in options(self.quietly(target.value)):
            if isinstance(option, Mapping) and key is not None and key not in option.entries:
                self.heap.put(option.entries, key, value)

    def _target_value(self, target: nodes.NodeNG) -> Value:
        if isinstance(target, nodes.AssignName):
            return self.lookup(target.name)
        if isinstance(target, nodes.AssignAttr):
            return self.attribute(self.evaluate(target.expr), target.attrname, target)
        return self.evaluate(target)

    def _as_total(self, node: nodes.Assign, value: Value) -> Value:
        """See `total = total + loss` as the running total that it is."""
        target, expression = node.targets[0], node.value
        if not (isinstance(expression, nodes.BinOp) and expression.op in ("+", "-") and device_tensors([value])):
            return value
        if len(node.targets) != 1 or not isinstance(target, (nodes.AssignName, nodes.AssignAttr)):
            return value
        sides = (expression.left, expression.right)
        own = next((side for side in sides if side.as_string() == target.as_string()), None)
        if own is None:
            return value
        other = sides[1] if own is sides[0] else sides[0]
        return self._with_history(node, target, self.quietly(own), self.quietly(other), value)

    def _with_history(self, node: nodes.NodeNG, target: nodes.NodeNG, left: Value, right: Value, value: Value) -> Value:
        if self.loops and self.here.grad and any(tensor.grad for tensor in device_tensors([right])):
            if isinstance(value, Tensor) and value.place is Location.DEVICE:
                self.totals[node] = (target, tuple(self.loops), self.context)
                self._confirm(node, left, value)
                return value.like(sites=value.sites | {node}, grad=True)
            if isinstance(left, Choice) or isinstance(value, Choice):
                return join_all(self._with_history(node, target, UNKNOWN, right, option) for option in options(value))
        return value

    def _confirm(self, site: nodes.NodeNG, left: Value, value: Value) -> None:
        """Note the loops from whose earlier turn a running total comes: a total that starts anew is none."""
        turns = {loop: loop.turn for loop in self.loops}
        earlier = self._turns.get(site)
        if earlier is not None and any(site in t.sites for side in (left, value) for t in tensors_in(side)):
            changed = next((loop for loop in self.loops if earlier.get(loop) != loop.turn), None)
            if changed is not None:
                self._confirmed.add((site, changed))
        self._turns[site] = turns

    def bind(self, target: nodes.NodeNG, value: Value) -> None:
        if isinstance(target, nodes.AssignName):
            self._bind_name(target, value)
        elif isinstance(target, (nodes.Tuple, nodes.List)):
            self._unpack(target, value)
        elif isinstance(target, nodes.AssignAttr):
            if target.attrname == GRADIENT:
                self.emit(GradientSet(target, self.context))
            self.set_attribute(self.evaluate(target.expr), target.attrname, value)
        elif isinstance(target, nodes.Subscript):
            self._store_subscript(target, target, value)
        elif isinstance(target, nodes.Starred):
            self.bind(target.value, Sequence(None, value))

    def _bind_name(self, target: nodes.AssignName, value: Value) -> None:
        if value is UNKNOWN and self.frame.node is not None:
            value = self.by_use(target)
        elif isinstance(value, (Tensor, Choice)):
            value = self.resolve_use(value, target.name, self.frame.node or self.module)
        frame = self.frame.outside.get(target.name)
        if frame is not None:
            self.heap.put(frame.env, target.name, value)
        else:
            self.here.env[target.name] = value
            if self.frame.outer is None:
                self.bindings += 1
                self.heap.note(value)

    def _unpack(self, target: nodes.Tuple | nodes.List, value: Value) -> None:
        elements: list[Any] = target.elts
        for option in options(value):
            if isinstance(option, Sequence) and option.items is not None and len(option.items) == len(elements):
                value = option
                break
        if isinstance(value, Sequence) and value.items is not None and self._unpack_exactly(elements, value.items):
            return
        if isinstance(value, Instance) and value.cls is not None and value.cls.fields:
            items = [self.attribute(value, name, target) for name in value.cls.fields]
            if self._unpack_exactly(elements, items):
                return
        if isinstance(value, Stream) and len(value.pieces) == len(elements):
            for element, piece in zip(elements, value.pieces, strict=True):
                self.bind(element, self.iterate(piece, None, target))
            return
        item = self.iterate(value, None, target)
        for element in elements:
            self.bind(element, item.like() if isinstance(item, Tensor) else item)

    def _unpack_exactly(self, elements: list[Any], items: list[Value]) -> bool:
        star = next((i for i, e in enumerate(elements) if isinstance(e, nodes.Starred)), None)
        if star is None:
            if len(elements) != len(items):
                return False
            for element, item in zip(elements, items, strict=True):
                self.bind(element, item)
            return True
        after = len(elements) - star - 1
        if len(items) < star + after:
            return False
        middle = items[star : len(items) - after]
        for element, item in zip(elements[:star], items[:star], strict=True):
            self.bind(element, item)
        self.bind(elements[star].value, Sequence(middle, join_all(middle)))
        for element, item in zip(elements[star + 1 :], items[len(items) - after :], strict=True):
            self.bind(element, item)
        return True

    def _store_subscript(self, node: nodes.NodeNG, target: nodes.Subscript, value: Value) -> None:
        owner = self.evaluate(target.value)
        if isinstance(target.slice, nodes.Slice):
            index: Value = self._slice(target.slice)
        else:
            index = self.evaluate(target.slice)
        on_host = all(option.place is Location.HOST for option in options(owner) if isinstance(option, Tensor))
        for option in options(owner):
            if isinstance(option, Tensor):
                if option.place is Location.DEVICE:
                    self.report_index(target, index, target.slice)
                    self.tensor(target, Location.DEVICE)
                elif on_host and not option.unstructured and device_tensors([value]):
                    self.read(target, None, value, How.VALUE, "copy into a host tensor", materialises=True)
                if option.made is not None and not all(is_made(part, option.made) for part in (index, value)):
                    self.rebind(target.value, option, option.like(made=None))
            elif isinstance(option, Mapping):
                self._store_item(option, index, bounded(value, option))
            elif isinstance(option, Sequence) and not option.frozen:
                self.heap.assign(option, "items", None)
                self.heap.assign(option, "element", join(option.element, bounded(value, option)))
            elif isinstance(option, Instance) and option.cls is not None:
                method = self.attribute(option, "__setitem__", node)
                if isinstance(method, Function):
                    self.call(method, Arguments(node, [index, value]))

    def _store_item(self, owner: Mapping, index: Value, value: Value) -> None:
        key = key_of(index)
        if key is not None:
            self.heap.put(owner.entries, key, value)
        else:
            self.heap.assign(owner, "element", value if owner.element is None else join(owner.element, value))

    def _delete(self, node: nodes.Delete) -> None:
        for target in node.targets:
            if isinstance(target, nodes.DelName):
                self.here.env.pop(target.name, None)
            elif isinstance(target, nodes.DelAttr) and target.attrname == GRADIENT:
                self.emit(GradientSet(target, self.context))

    def extend(self, receiver: Sequence, value: Value, node: nodes.NodeNG) -> None:
        items = None
        if isinstance(value, Sequence) and value.items is not None and receiver.items is not None and not self.loops:
            items = [*receiver.items, *value.items]
        added = bounded(self.iterate(value, None, node), receiver)
        element = added if not receiver.items and receiver.element is UNKNOWN else join(element_of(receiver), added)
        self.heap.assign(receiver, "items", items)
        self.heap.assign(receiver, "element", element)

    # Branches.

    def _if(self, node: nodes.If) -> None:
        truth = self._test(node.test)
        if fills(node):
            truth.if_true.add(Condition.PERIODIC)
        self._branch(
            truth,
            lambda: self.run(node.body),
            lambda: self.run(node.orelse),
            node.test,
        )

    def _test(self, test: nodes.NodeNG) -> Truth:
        truth = self.truth(test)
        if is_type_checking(test):
            truth.known = False
        return truth

    def _branch(self, truth: Truth, body: Callable[[], None], orelse: Callable[[], None], test: nodes.NodeNG) -> None:
        before = self.here
        path_condition = before.path_condition
        mark = self.heap.mark()
        ends: list[State | None] = []
        heaps: list[Changes] = []
        random = Condition.RANDOM in truth.if_true
        operations, dead, ended = self.operations, False, False
        tests = list(self.tests)
        if truth.known is None:
            self.tests.append(len(self.loops))
        for when, run, conditions, index in (
            (True, body, truth.if_true, truth.narrow_true),
            (False, orelse, truth.if_false, truth.narrow_false),
        ):
            if truth.known is (not when):
                continue
            self.state = before.fork()
            self.assume(conditions)
            self.narrow(index)
            departures, events = self._departures(), len(self.events)
            run()
            dead |= self.state is None
            ended |= self.state is None and self._departures() == departures
            if self.state is None:
                self._leave(departures, events)
            ends.append(self.state)
            heaps.append(self.heap.take_back(mark))
        self.tests = tests
        self.heap.merge(*heaps, ranked=truth.ranked)
        if random and (self.operations > operations or (dead and self.loops)) and truth.known is None:
            self.state = before
            if dead or self.operations > operations:
                self.emit(HostChoice(test, self.context, "branch"))
        self.state = meet_all(ends, ranked=truth.ranked)
        if self.state is not None and len(ends) == 2 and (ended or all(end is not None for end in ends)):
            self.state.path_condition = path_condition

    def _departures(self) -> tuple[int, int, int]:
        """How many paths returned, broke and continued so far; one that raises ends the program instead."""
        exits = self.exits[-1] if self.exits else Exits()
        return len(self.frame.returns), len(exits.breaks), len(exits.continues)

    def _leave(self, departures: tuple[int, int, int], events: int) -> None:
        """Note the loops that a path ended which began with so many departures and events."""
        returned, broke, continued = (now - then for now, then in zip(self._departures(), departures, strict=True))
        raised = not (returned or broke or continued)
        if continued or (raised and self.catching):
            return
        first = 0 if raised else len(self.loops) - 1 if broke else self.frame.depth
        left = frozenset(self.loops[first:])
        self.events[events:] = [
            replace(event, context=replace(event.context, left=event.context.left | left))
            for event in self.events[events:]
        ]

    def _assert(self, node: nodes.Assert) -> None:
        truth = self.truth(node.test)
        self.narrow(truth.narrow_true)

    def _match(self, node: nodes.Match) -> None:
        subject = self.evaluate(node.subject)
        before = self.here
        mark = self.heap.mark()
        ends: list[State | None] = [before.fork()]
        heaps: list[Changes] = [{}]
        if any(case.pattern is not None and isinstance(case.pattern, nodes.MatchValue) for case in node.cases):
            self.read(node, node.subject, subject, How.BRANCH, "match")
        for case in node.cases:
            self.state = before.fork()
            for name in case.pattern.nodes_of_class(nodes.AssignName):
                self.bind(name, subject if isinstance(case.pattern, nodes.MatchAs) else UNKNOWN)
            if isinstance(subject, Number):
                self.assume(truth_of_number(Number(traits=subject.traits)).if_true)
                self.assume(self._fits(case.pattern, subject).if_true)
            if case.guard is not None:
                self.assume(self.truth(case.guard).if_true)
            self.run(case.body)
            ends.append(self.state)
            heaps.append(self.heap.take_back(mark))
        self.heap.merge(*heaps)
        self.state = meet_all(ends)

    def _fits(self, pattern: nodes.NodeNG, subject: Number) -> Truth:
        """Whether a number is one of those that a pattern spells."""
        if isinstance(pattern, nodes.MatchOr):
            return combine("or", [self._fits(option, subject) for option in pattern.patterns])
        if not isinstance(pattern, nodes.MatchValue):
            return Truth()
        return truth_of_number(self.compare(pattern, "==", pattern.value, self.evaluate(pattern.value), subject))

    # Loops.

    def _for(self, node: nodes.For) -> None:
        settings = attributes_set(node)
        if settings is not None and self._set_each(node, self.evaluate(settings)):
            return
        iterable = self.evaluate(node.iter)
        loop = self.loop_of(node)
        note_loaders(loop, iterable)
        random = isinstance(iterable, Stream) and any(
            isinstance(o, Number) and Condition.RANDOM in truth_of_number(o).if_true
            for o in options(iterable.stop or NONE)
        )

        def head() -> bool:
            self.bind(node.target, self.iterate(iterable, loop, node.iter))
            return True

        operations = self.operations
        self._loop(node, loop, head)
        if random and self.operations > operations and self.state is not None:
            self.emit(HostChoice(node.iter, self.context, "loop count"))

    def _set_each(self, node: nodes.For, settings: Value) -> bool:
        """Run a loop that sets attributes once for each; False where not all of them are known."""
        if not isinstance(settings, Mapping) or settings.element is not None:
            return False
        for name, value in list(settings.entries.items()):
            self.bind(node.target, Sequence([Text(name), value], frozen=True))
            self.run(node.body)
        return True

    def _while(self, node: nodes.While) -> None:
        loop = self.loop_of(node)
        random, operations = False, self.operations

        def head() -> bool:
            nonlocal random
            truth = self._test(node.test)
            random = Condition.RANDOM in truth.if_true
            self.assume(truth.if_true - {Condition.PERIODIC})
            self.narrow(truth.narrow_true)
            return truth.known is not False

        self._loop(node, loop, head)
        if random and self.operations > operations and self.state is not None:
            self.emit(HostChoice(node.test, self.context, "loop count"))

    def _loop(self, node: nodes.For | nodes.While, loop: Loop, head: Callable[[], bool]) -> None:
        entry = self.here
        outer_cut, outer_phase, path_condition = entry.cut, entry.phase, entry.path_condition
        self._widen(node, loop)
        before = entry.fork()
        exits = Exits()
        self.exits.append(exits)
        end: State | None = None
        for turn in range(MOST_TURNS):
            start = before.fork()
            start.cut, start.phase = Cut.NEVER, None
            self.state = start
            loop.turn += 1
            exits.breaks.clear()
            exits.continues.clear()
            mark = self.heap.mark()
            with self.inside(loop):
                if head():
                    self.run(node.body)
                end = meet_all([self.state, *exits.continues])
                if end is None:
                    break
                loop.cut = end.cut
                again = self._carries(before, end, mark)
                self._look_for_growth(node, loop, before, end, mark)
            if not again or turn == MOST_TURNS - 1:
                break
            round_again = end.fork()
            before = before.meet(round_again)
        self.exits.pop()
        if loop.wrapped and end is not None:
            self.state = end
            self.barrier(node.iter if isinstance(node, nodes.For) else node, "next()", silent=True)
        if loop.parent is not None and loop.opaque:
            loop.parent.opaque = True
        self.state = meet_all([end, *exits.breaks]) or (entry if not exits.breaks else None)
        if self.state is None:
            return
        after = self.state
        passed = after.cut if end is not None else Cut.NEVER
        after.cut = outer_cut if passed is Cut.NEVER else max(outer_cut, passed)
        after.phase = outer_phase if outer_phase is not None else None
        after.path_condition = path_condition
        if node.orelse:
            self.run(node.orelse)

    def _widen(self, node: nodes.For | nodes.While, loop: Loop) -> None:
        """Forget the values of numbers that the body assigns: they change from turn to turn."""
        env = self.here.env
        known = self._numbers.get(node)
        if known is None:
            known = self._numbers[node] = (assigned_numbers(node), counted_slots(node))
        names, attributes = known
        for name, counts in names:
            value = env.get(name)
            if isinstance(value, (Number, Choice)):
                env[name] = join_all(widened(option, loop if counts else None) for option in options(value))
        for owner, name in attributes:
            for holder in options(self.quietly(owner)):
                slots = slots_of(holder)
                value = slots.get(name)
                if isinstance(value, Number):
                    self.heap.put(slots, name, Number(None, value.loops | {loop}))

    def _carries(self, before: State, end: State, mark: int) -> bool:
        """Whether something that lived before the turn is of another kind after it, and on the device, or a loader."""
        pairs: list[tuple[Value, Value]] = [
            (old, new) for name, old in before.env.items() if (new := end.env.get(name, old)) is not old
        ]
        pairs.extend(self._stored_since(mark))
        if any(key == "moves" for _, key, _ in self.heap.since(mark)):
            return True
        if any(isinstance(old, Number) and isinstance(new, Number) and new.loops - old.loops for old, new in pairs):
            return True
        return any(differs(old, new) and (isinstance(new, Loader) or device_tensors([new])) for old, new in pairs)

    def _stored_since(self, mark: int) -> list[tuple[Value, Value]]:
        """The values of shared objects that were set since `mark`: what stood there before, and what stands there.

        What a container holds under keys that are not known is the join of all; there only what was added counts.
        """
        pairs: list[tuple[Value, Value]] = []
        for owner, key, old in self.heap.since(mark):
            new = current(owner, key)
            if isinstance(old, Value) and isinstance(new, Value) and new is not old:
                added = [o for o in options(new) if o not in options(old)] if key == "element" else []
                pairs.append((old, join_all(added) if added else new))
        return pairs

    def _look_for_growth(self, node: nodes.NodeNG, loop: Loop, before: State, end: State, mark: int) -> None:
        """Find what comes round again with a concatenation or a running total of this turn in it."""
        pairs: list[tuple[Value, Value]] = [
            (old, end.env[name]) for name, old in before.env.items() if end.env.get(name, old) is not old
        ]
        pairs.extend(self._stored_since(mark))
        for old, new in pairs:
            olds = list(tensors_in(old))
            loop.carries |= any(t.place is Location.DEVICE and t.recorded_in in end.epochs for t in tensors_in(new))
            for tensor in tensors_in(new):
                for site in tensor.sites:
                    if site in self.concatenations:
                        operands, what, context = self.concatenations[site]
                        if any(operand in olds for operand in operands):
                            self.emit(Growing(site, context, what, loop))
                    elif site in self.totals:
                        self._report_total(site, loop, old, new)

    def _report_total(self, site: nodes.NodeNG, loop: Loop, old: Value, new: Value) -> None:
        target, loops, context = self.totals[site]
        restarts = isinstance(new, Choice) and any(not isinstance(o, Tensor) for o in new.options)
        confirmed = loop in loops and (site, loop) in self._confirmed
        if confirmed and isinstance(old, (Tensor, Number, Choice)) and not restarts and site not in self.spent:
            self.emit(History(site, context, source_of(target), loop))

    def _break(self, _: nodes.Break) -> None:
        if self.exits:
            self.exits[-1].breaks.append(self.here)
        self.state = None

    def _continue(self, _: nodes.Continue) -> None:
        if self.exits:
            self.exits[-1].continues.append(self.here)
        self.state = None

    # With, try.

    def _with(self, node: nodes.With) -> None:
        self._enter(list(node.items), node)

    def _enter(self, items: list[tuple[nodes.NodeNG, nodes.NodeNG | None]], node: nodes.With) -> None:
        if not items:
            self.run(node.body)
            return
        (expression, target), *rest = items
        manager = self.evaluate(expression)

        def body(value: Value) -> None:
            if target is not None:
                self.bind(target, value)
            self._enter(rest, node)

        self.enter(manager, body, expression)

    def _try(self, node: nodes.Try) -> None:
        before = self.here.fork()
        mark = self.heap.mark()
        self.tests.append(len(self.loops))
        self.catching += bool(node.handlers)
        self.run(node.body)
        self.catching -= bool(node.handlers)
        if self.state is not None and node.orelse:
            self.run(node.orelse)
        ends: list[State | None] = [self.state]
        thrown = self.state.fork() if self.state is not None else before.fork()
        if node.handlers:
            tried = self.heap.take_back(mark)
            self.heap.merge(tried)
            heaps = [tried]
            for handler in node.handlers:
                self.state = thrown.fork().meet(before.fork()) if self.state is not None else before.fork()
                self.state.path_condition = before.path_condition
                if isinstance(handler.name, nodes.AssignName):
                    self.bind(handler.name, UNKNOWN)
                inner = self.heap.mark()
                self.run(handler.body)
                heaps.append(self.heap.take_back(inner))
                ends.append(self.state)
            self.heap.merge(*[{**heaps[0], **heap} for heap in heaps])
        self.tests.pop()
        self.state = meet_all(ends)
        if node.finalbody:
            alive = self.state
            if alive is None:
                self.state = before.fork()
            self.run(node.finalbody)
            if alive is None:
                self.state = None

    def _return(self, node: nodes.Return) -> None:
        value = self.evaluate(node.value) if node.value is not None else NONE
        if self.state is not None:
            self.frame.returns.append((value, self.state))
        self.state = None

    def _raise(self, node: nodes.Raise) -> None:
        if node.exc is not None:
            self.quietly(node.exc)
        self.state = None

    # Definitions.

    def _import(self, node: nodes.Import) -> None:
        for name, alias in node.names:
            bound = name if alias else name.partition(".")[0]
            path = self.own(bound, 0)
            self.here.env[alias or bound] = Name(canonical(bound)) if path is None else Imported(path, "", bound)

    def _import_from(self, node: nodes.ImportFrom) -> None:
        level = node.level or 0
        module = "." * level + (node.modname or "")
        path = self.own(node.modname or "", level)
        for name, alias in node.names:
            if name == "*":
                self._import_all(path)
                continue
            dotted = canonical(f"{module}.{name}")
            inside = self.own(name, level) if path is None and not node.modname else None
            if inside is not None:
                self.here.env[alias or name] = Imported(inside, "", dotted)
            else:
                self.here.env[alias or name] = Name(dotted) if path is None else Imported(path, name, dotted)

    def _import_all(self, path: Path | None) -> None:
        frame = self.load(path) if path is not None else None
        if frame is not None:
            names = (name for name in frame.env if not name.startswith("_"))
            self.here.env.update({name: self.known(frame.env, name) for name in names})

    def own(self, dotted: str, level: int) -> Path | None:
        """The file or folder of the project that an import in the running module names."""
        importer = self.project.importer_of(self.module)
        if importer is None:
            return None
        if not level and is_foreign(dotted):
            path = None if is_standard(dotted) else self.project.beside(dotted, importer)
        else:
            path = self.project.resolve(dotted, level, importer)
        return None if path == importer else path

    def load(self, path: Path) -> Frame | None:
        """The variables of a module of the project, whose top level is run at the first time."""
        frame = self.modules.get(path)
        if frame is None and path.suffix == ".py" and len(self.modules) < MOST_MODULES:
            tree = self.project.tree(path)
            if tree is not None:
                frame = self.module_frame(tree)
                frame.env["__name__"] = Text(tree.name, fact=True)
                self._run_module(frame, tree)
        return frame

    def _run_module(self, frame: Frame, tree: nodes.Module) -> None:
        outer = (self.frame, self.state, self.loops, self.calls, self.exits, self.defining, self.tests, self.active)
        self.suspend()
        self.frame, self.state = frame, State(frame.env, frozenset(), frozenset({1}))
        self.loops, self.calls, self.exits, self.defining, self.tests, self.active = [], [], [], None, [], []
        self.run_definitions(tree.body)
        frame.env = self.state.env if self.state is not None else frame.env
        self.frame, self.state, self.loops, self.calls, self.exits, self.defining, self.tests, self.active = outer

    def find_imported(self, value: Imported) -> Value:
        frame = self.load(value.path)
        module = ModuleValue(value.path, frame)
        if not value.member:
            return module
        found = self.module_member(module, value.member)
        return Name(value.dotted) if found is UNKNOWN and frame is None else found

    def module_member(self, module: ModuleValue, name: str) -> Value:
        if module.frame is not None and name in module.frame.env:
            return self.known(module.frame.env, name)
        folder = module.path.parent if module.path.name == "__init__.py" else module.path
        path = self.project.resolve(name, 1, folder / "__init__.py")
        return ModuleValue(path, self.load(path)) if path is not None else UNKNOWN

    def module_of_frame(self) -> Frame:
        """The module frame around the running one."""
        frame = self.frame
        while frame.outer is not None:
            frame = frame.outer
        return frame

    def _global(self, node: nodes.Global) -> None:
        for name in node.names:
            self.frame.outside[name] = self.module_of_frame()

    def _nonlocal(self, node: nodes.Nonlocal) -> None:
        for name in node.names:
            frame = self.frame.outer
            while frame is not None and name not in frame.env:
                frame = frame.outer
            if frame is not None:
                self.frame.outside[name] = frame

    def _function(self, node: nodes.FunctionDef) -> None:
        self.suspend()
        value: Value = Function(node, self.frame, owner=self.defining, defaults=self.defaults_of(node))
        if node.decorators is not None:
            for decorator in reversed(node.decorators.nodes):
                value = self.decorate(value, decorator)
        self.here.env[node.name] = value

    def _class(self, node: nodes.ClassDef) -> None:
        base_nodes: list[Any] = list(node.bases)
        bases = [self.evaluate(base) for base in base_nodes]
        cls = Class(node, self.frame, bases, {})
        before, outer = self.here.env, self.defining
        self.suspend()
        self.here.env = dict(before)
        self.defining = cls
        names = set(before)
        self.run_definitions(node.body)
        self.defining = outer
        if self.state is None:
            return
        env = self.here.env
        cls.members = {name: value for name, value in env.items() if name not in names or before[name] is not value}
        self.here.env = before
        self.complete_class(cls, node)
        before[node.name] = cls


def _nothing(_: Any, __: nodes.NodeNG) -> None:
    """A statement that does nothing."""


_STATEMENTS: dict[type[nodes.NodeNG], Callable[[Any, Any], None]] = {
    nodes.Expr: Flow._expression,
    nodes.Assign: Flow._assign,
    nodes.AnnAssign: Flow._annotated,
    nodes.AugAssign: Flow._augmented,
    nodes.Delete: Flow._delete,
    nodes.If: Flow._if,
    nodes.Assert: Flow._assert,
    nodes.Match: Flow._match,
    nodes.For: Flow._for,
    nodes.AsyncFor: Flow._for,
    nodes.While: Flow._while,
    nodes.Break: Flow._break,
    nodes.Continue: Flow._continue,
    nodes.With: Flow._with,
    nodes.AsyncWith: Flow._with,
    nodes.Try: Flow._try,
    nodes.TryStar: Flow._try,
    nodes.Return: Flow._return,
    nodes.Raise: Flow._raise,
    nodes.Import: Flow._import,
    nodes.ImportFrom: Flow._import_from,
    nodes.Global: Flow._global,
    nodes.Nonlocal: Flow._nonlocal,
    nodes.FunctionDef: Flow._function,
    nodes.AsyncFunctionDef: Flow._function,
    nodes.ClassDef: Flow._class,
    nodes.Pass: _nothing,
}


def is_type_checking(test: nodes.NodeNG) -> bool:
    """True for `TYPE_CHECKING`."""
    return (isinstance(test, nodes.Name) and test.name == "TYPE_CHECKING") or (
        isinstance(test, nodes.Attribute) and test.attrname == "TYPE_CHECKING"
    )


def widened(value: Value, loop: Loop | None) -> Value:
    """A number whose value is forgotten; with `loop`, one that changes with its turns. Other values stay."""
    if not isinstance(value, Number):
        return value
    return Number(None, value.loops | {loop} if loop is not None else value.loops, value.traits)


def assigned_numbers(node: nodes.For | nodes.While) -> list[tuple[str, bool]]:
    """The names that a loop's body assigns; True for those that count (`n += 1`, `n = n + 1`)."""
    found: dict[str, bool] = {}
    pending: list[nodes.NodeNG] = list(node.body)
    while pending:
        item = pending.pop()
        if isinstance(item, nodes.AugAssign) and isinstance(item.target, nodes.AssignName):
            found[item.target.name] = True
        elif isinstance(item, nodes.Assign):
            for target in item.targets:
                if isinstance(target, nodes.AssignName):
                    counts = advances(item.value, target.name)
                    found[target.name] = found.get(target.name, False) or counts
        if not isinstance(item, (nodes.FunctionDef, nodes.ClassDef, nodes.Lambda)):
            pending.extend(item.get_children())
    return list(found.items())


def counted_slots(node: nodes.For | nodes.While) -> list[tuple[nodes.NodeNG, str]]:
    """What a loop's body counts up in objects and dicts: the expression of the holder, and the attribute or key."""
    found = []
    for item in node.nodes_of_class((nodes.AugAssign, nodes.Assign)):
        target = item.target if isinstance(item, nodes.AugAssign) else item.targets[0]
        if not isinstance(item, nodes.AugAssign) and not advances(item.value, target.as_string()):
            continue
        if isinstance(target, nodes.AssignAttr) and is_path(target.expr):
            found.append((target.expr, str(target.attrname)))
        elif isinstance(target, nodes.Subscript) and is_path(target.value) and isinstance(target.slice, nodes.Const):
            found.append((target.value, target.slice.value))
    return found


def is_path(node: nodes.NodeNG) -> bool:
    """Whether an expression is a name, or a chain of attributes of one."""
    while isinstance(node, nodes.Attribute):
        node = node.expr
    return isinstance(node, nodes.Name)


def attributes_set(node: nodes.For) -> nodes.NodeNG | None:
    """The dict whose items a loop sets as attributes, doing nothing else: `given` of `given.items()`."""
    only = node.body[0].value if len(node.body) == 1 and isinstance(node.body[0], nodes.Expr) else None
    sets = isinstance(only, nodes.Call) and last_name(only.func) == "setattr"
    if sets and isinstance(node.iter, nodes.Call) and isinstance(node.iter.func, nodes.Attribute):
        return node.iter.func.expr if node.iter.func.attrname == "items" else None
    return None


def fills(node: nodes.If) -> bool:
    """Whether a branch puts into a container what is not in it yet: `if key not in cache: cache[key] = ...`."""
    test = node.test
    if not (isinstance(test, nodes.Compare) and [op for op, _ in test.ops] == ["not in"]):
        return False
    slot = f"{test.ops[0][1].as_string()}[{test.left.as_string()}]"
    return any(
        isinstance(statement, nodes.Assign) and any(target.as_string() == slot for target in statement.targets)
        for statement in node.body
    )


def slots_of(holder: Value) -> dict[str, Value]:
    """What an object or a dict holds, by attribute or key."""
    if isinstance(holder, Instance):
        return holder.attributes
    return holder.entries if isinstance(holder, Mapping) else {}


def is_made(value: Value, around: Loop) -> bool:
    """Whether an index or an item comes from the source's own numbers, the same in every turn of a loop."""
    if isinstance(value, Tensor):
        return value.made is not None
    if isinstance(value, Sequence):
        return all(is_made(item, around) for item in (value.items if value.items is not None else [value.element]))
    if isinstance(value, Slice):
        return all(is_made(part, around) for part in value.parts)
    if isinstance(value, Number) and value.loops:
        return all(around in loop.around() for loop in value.loops)
    if isinstance(value, Number):
        return value.const is not None or Trait.SHAPE in value.traits
    return value is NONE


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
