"""The machine that runs a program: all that handlers know of it.

What each kind of node and value means is told by handlers, in tables (`meanings`). What one handler needs of another
it asks of the machine too (`operations`).
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from astroid import nodes

from xla_lint.program.domain.contexts import Condition, Constraint, Context
from xla_lint.program.domain.definitions import Method
from xla_lint.program.domain.events import Barrier, Collective, Event, Forward, SplitStep
from xla_lint.program.domain.heap import Heap
from xla_lint.program.domain.loaders import Logger
from xla_lint.program.domain.locations import inherited, location_of
from xla_lint.program.domain.loops import Cut, CutSite
from xla_lint.program.domain.state import Frame, Gradients, Phase, State
from xla_lint.program.domain.touches import Touches
from xla_lint.program.domain.values import (
    MATERIALISED,
    NONE,
    UNKNOWN,
    Device,
    Location,
    Tensor,
)
from xla_lint.program.domain.walk import tensors_in
from xla_lint.program.machine.growth import Growth
from xla_lint.program.machine.limits import Limits
from xla_lint.program.machine.loop_table import LoopTable
from xla_lint.program.machine.meanings import ATTRIBUTES, CALLS, EXPRESSIONS, ITERATIONS, STATEMENTS, TARGETS
from xla_lint.program.machine.memo import Memo
from xla_lint.program.machine.operations import Operations
from xla_lint.program.machine.position import Position
from xla_lint.program.project.project import Project, path_of_module
from xla_lint.program.syntax.index import Index, index_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

    from xla_lint.program.backend.aim import Aim
    from xla_lint.program.domain.being import Being
    from xla_lint.program.domain.definitions import GradientHook
    from xla_lint.program.domain.loops import Loop
    from xla_lint.program.domain.values import Instance, Value
    from xla_lint.program.machine.arguments import Arguments
    from xla_lint.program.machine.internal_errors import InternalError
    from xla_lint.program.project.scope import Version
    from xla_lint.program.syntax.uses import Uses


class Machine(Operations):
    """One run of one program: where it stands, and what it has done so far."""

    def __init__(
        self, module: nodes.Module, project: Project, target: Version, aim: Aim, *, assume_device: bool
    ) -> None:
        self.project = project
        self.target = target
        self.aim = aim
        self.backend = aim.backend
        self.limits = Limits()
        self.assume_device = assume_device
        """Whether a model or loss known by its use alone lives on the device."""
        self.modules: dict[Path, Frame] = {}
        """The modules of the project that were run, the entry among them."""
        self.globals = self.module_frame(module)
        self.at = Position(self.globals, State(self.globals.env, frozenset(), frozenset({1})))
        self.heap = Heap()
        self.loop_table = LoopTable()
        self.events: list[Event] = []
        self.errors: list[InternalError] = []
        self.ran: set[nodes.NodeNG] = set()
        """The statements that were run."""
        self.visited: set[nodes.NodeNG] = set()
        """The functions whose body was run at least once."""
        self.touches = Touches()
        self.bindings = 0
        """How many variables of modules were bound so far."""
        self.operations = 0
        """How many operations on the device were recorded so far."""
        self.without_caller = False
        """True once functions are run that have no caller in sight."""
        self.default_device = Device(Location.HOST)
        """Where `torch.set_default_device` puts what is made."""
        self.root_logger = Logger(0)
        self.gradient_hooks: dict[nodes.NodeNG, GradientHook] = {}
        """What runs with the backward pass, by the node of the function."""
        self.growth = Growth()
        self.memo = Memo()
        self.handed: set[nodes.NodeNG] = set()
        """The functions that were handed to code which cannot be seen, and run once for that."""
        self.set_on_names: dict[str, Value] = {}
        """What the program has set on objects of libraries, by dotted name."""
        self.named: dict[nodes.NodeNG, str] = {}
        """What the attributes that were evaluated name of torch_xla, by dotted name."""
        self.narrowed: dict[nodes.NodeNG, Being] = {}
        """What a test around them tells of attributes and items."""
        self.seeds: dict[tuple[nodes.NodeNG, nodes.NodeNG, str], Value] = {}
        """What parameters stand for whose arguments are unknown: by function, call and name."""
        self.graded: int | None = None
        """The graph epoch in which gradients were last computed or changed, as far as that was seen."""
        self.exposed = False
        """True once code that cannot be seen was given a model or an optimizer: it may reach gradients from then on."""
        self._epochs = 1
        self._context: Context | None = None

    # What nodes and values mean: told by the tables.

    def run(self, body: Iterable[nodes.NodeNG]) -> None:
        """Run statements until a path ends."""
        for node in body:
            if self.at.state is None:
                return
            self.ran.add(node)
            self.limits.work -= 1
            STATEMENTS.get(type(node), Machine.evaluate)(self, node)

    def evaluate(self, node: nodes.NodeNG) -> Value:
        """The value of an expression; UNKNOWN for one of an unknown kind, once its parts are evaluated."""
        handler = EXPRESSIONS.get(type(node))
        if handler is not None:
            value: Value = handler(self, node)
            return value
        for child in node.get_children():
            self.evaluate(child)
        return UNKNOWN

    def quietly(self, node: nodes.NodeNG) -> Value:
        """The value of an expression, without its events and without what it does."""
        if type(node) is nodes.Name:
            return self.evaluate(node)
        events, operations, mark = self.events, self.operations, self.heap.mark()
        self.events = []
        try:
            with self.elsewhere(state=self.here.fork()):
                return self.evaluate(node)
        finally:
            self.events, self.operations = events, operations
            self.heap.take_back(mark)

    def bind(self, target: nodes.NodeNG, value: Value) -> None:
        """Assign a value to a target."""
        handler = TARGETS.get(type(target))
        if handler is not None:
            handler(self, target, value)

    def call(self, callee: Value, arguments: Arguments) -> Value:
        """The result of calling a value; what cannot be followed may call the functions that it is given."""
        if self.at.state is None:
            return UNKNOWN
        handler = CALLS.get(type(callee))
        result: Value | None = None if handler is None else handler(self, callee, arguments)
        if result is not None:
            return result
        self.hand_over(arguments)
        self.opaque(reduces=self.exposed)
        return UNKNOWN

    def attribute(self, value: Value, name: str, node: nodes.NodeNG) -> Value:
        """The value of an attribute."""
        if value is UNKNOWN or value is NONE:
            return UNKNOWN
        handler = ATTRIBUTES.get(type(value))
        result: Value | None = None if handler is None else handler(self, value, name, node)
        return Method(value, name) if result is None else result

    def iterate(self, value: Value, loop: Loop | None, node: nodes.NodeNG) -> Value:
        """What iterating a value yields, once; with `loop`, each turn of that loop."""
        handler = ITERATIONS.get(type(value))
        if handler is not None:
            item: Value = handler(self, value, loop, node)
            return item
        if loop is not None:
            loop.note_opaque()
        return UNKNOWN

    # Where it stands.

    @property
    def here(self) -> State:
        """The state of a reachable point.

        Raises:
            AssertionError: the point is not reachable.
        """
        state = self.at.state
        assert state is not None
        return state

    @property
    def loops(self) -> tuple[Loop, ...]:
        """The loops around, outermost first."""
        return self.at.loops

    @property
    def loop(self) -> Loop | None:
        """The innermost loop."""
        loops = self.at.loops
        return loops[-1] if loops else None

    @contextmanager
    def elsewhere(self, **changes: Any) -> Iterator[None]:
        """Stand at another position for a while: this one with some parts changed. Its state is carried on.

        With a state of its own it is a path that ends. An error leaves the machine there, for the boundary around to
        see how far it came.
        """
        before = self.at
        self.at = before.copy()
        for part, value in changes.items():
            setattr(self.at, part, value)
        yield
        if "state" not in changes:
            before.state = self.at.state
        self.at = before

    @contextmanager
    def inside(self, loop: Loop) -> Iterator[None]:
        """Stand inside a loop; the state is carried on."""
        before = self.at.loops
        self.at.loops = (*before, loop)
        yield
        self.at.loops = before

    @contextmanager
    def under(self, conditions: Collection[Condition]) -> Iterator[None]:
        """Stand under conditions, and leave with those that held before."""
        before = self.here.path_condition
        self.assume(conditions)
        yield
        if self.at.state is not None:
            self.at.state.path_condition = before

    def assume(self, conditions: Collection[Condition]) -> None:
        """Let conditions hold from here on."""
        at = self.at
        if not conditions:
            return
        added = frozenset([Constraint(condition, len(at.loops), len(at.calls)) for condition in conditions])
        if not added <= self.here.path_condition:
            self.here.path_condition |= added

    @property
    def context(self) -> Context:
        """The context of an event that happens here."""
        at, last = self.at, self._context
        assert at.state is not None
        condition = at.state.path_condition
        if (
            last is None
            or last.loops is not at.loops
            or last.path_condition is not condition
            or last.stack is not at.calls
            or last.closure is not at.closure
            or last.callback is not at.callback
            or last.replicated is not at.replicated
            or last.module is not at.frame.module
            or last.compiled is not at.compiled
            or last.doubt != at.doubt
        ):
            given = at.loops, condition, at.calls, at.closure, at.callback, at.replicated, at.frame.module
            last = self._context = Context(*given, doubt=at.doubt, compiled=at.compiled)
        return last

    @property
    def setting(self) -> tuple[Any, ...]:
        """What else holds here and can make a difference to a function that is called."""
        at = self.at
        around = (self.without_caller, at.replicated, at.closure, at.callback, at.in_forward, at.compiled)
        return *around, self.bindings, self.default_device, self.exposed

    @property
    def device(self) -> Device:
        """Where tensors and models are made that are not told where."""
        return self.here.device or self.default_device

    @property
    def index(self) -> Index:
        """What the syntax of the module tells whose code runs."""
        index = self.at.frame.index
        assert index is not None
        return index

    @property
    def module(self) -> nodes.Module:
        """The module whose code runs."""
        module = self.at.frame.module
        assert module is not None
        return module

    def uses(self, scope: nodes.NodeNG) -> Uses:
        """How names are used below a node of the module that runs."""
        return self.index.uses(scope)

    def module_frame(self, module: nodes.Module) -> Frame:
        """A frame for a module's top level."""
        frame = Frame({}, None, node=module, module=module, index=index_of(module))
        path = path_of_module(module)
        if path is not None:
            self.modules[path] = frame
        return frame

    def loop_of(self, node: nodes.NodeNG) -> Loop:
        """The loop that a statement or a comprehension is, in this context."""
        at = self.at
        name = at.frame.function.name if at.frame.function is not None else ""
        loop = self.loop_table.loop(node, name, at)
        state, depth = self.here, len(at.loops)
        periodic = any(c.condition is Condition.PERIODIC and c.depth >= depth for c in state.path_condition)
        loop.stand(in_forward=at.in_forward, periodic=periodic, certain=not self.without_caller, grad=state.grad)
        return loop

    # What happens.

    def emit(self, event: Event) -> None:
        """Add an event."""
        self.events.append(event)

    def tensor(self, node: nodes.NodeNG, place: Location, **properties: Any) -> Tensor:
        """A tensor that an operation here computes; on the device it is pending."""
        at, line = self.at, node.lineno or 0
        if place is not Location.DEVICE:
            return Tensor(place, MATERIALISED, line, home=at.frame.module, **properties)
        state = self.here
        state.work = True
        self.operations += 1
        if at.loops:
            at.loops[-1].note_operation()
        return Tensor(place, max(state.epochs), line, home=at.frame.module, **properties)

    def derived(self, node: nodes.NodeNG, values: Iterable[Value], **properties: Any) -> Tensor:
        """A tensor computed from these values: on the device if one of them is."""
        tensors = [tensor for value in values for tensor in tensors_in(value, 2)]
        place, state = location_of(tensors), self.here
        found = inherited(tensors, place, state.epochs, state.materialised, grad=state.grad)
        return self.tensor(node, place, **{**found, **properties})

    def is_pending(self, tensor: Tensor) -> bool:
        """Whether reading a tensor here executes a graph, on some path."""
        state = self.here
        return tensor.is_pending(state.epochs, state.materialised)

    @property
    def is_conditional(self) -> bool:
        """Whether a test inside the innermost loop decides that the program comes here."""
        depth = len(self.at.loops)
        return any(constraint.depth >= depth for constraint in self.here.path_condition) or depth in self.at.tests

    def new_epoch(self) -> int:
        """A graph epoch that begins here."""
        self._epochs += 1
        return self._epochs

    def barrier(self, node: nodes.NodeNG, spelled: str, *, silent: bool = False, waits: bool = False) -> None:
        """Cut the graph; `waits`: until every replica has come here."""
        state, at = self.here, self.at
        self.collective(node, spelled, waits=waits, by_data=waits or not silent)
        if not silent:
            self.emit(Barrier(node, self.context, spelled, not state.work))
        for depth, loop in enumerate(at.loops, 1):
            inner = {c.condition for c in state.path_condition if c.depth >= depth} - {Condition.SETTING}
            conditional = bool(inner) or any(test >= depth for test in at.tests)
            site = CutSite(node, Condition.PERIODIC in inner and Condition.ONCE not in inner, conditional, spelled)
            loop.pass_barrier(site, directly=depth == len(at.loops))
        state.epochs = frozenset({self.new_epoch()})
        state.cut = Cut.ALWAYS
        state.materialised = frozenset()
        state.work = state.updated = False
        if state.phase is not None and state.phase.cut is None and state.phase.loop is self.loop:
            state.phase = Phase(state.phase.done, state.phase.loop, node, state.path_condition, spelled)

    def collective(self, node: nodes.NodeNG, spelled: str, *, waits: bool = True, by_data: bool = True) -> None:
        """What every replica has to reach; only under a test that may differ between them it is an event."""
        apart = (Condition.RANK, Condition.DATA) if by_data else (Condition.RANK,)
        if any(c.condition in apart for c in self.here.path_condition):
            self.emit(Collective(node, self.context, spelled, waits))

    def forward(self, node: nodes.NodeNG, model: Instance) -> None:
        """A model on the device is called."""
        self.emit(Forward(node, self.context, model, model.place, model.prepared))
        if self.loop is not None:
            self.loop.note_model()
        if self.here.grad and self.here.phase is None:
            self.here.phase = Phase("forward", self.loop)

    def backward(self, node: nodes.NodeNG) -> None:
        """The backward pass of a device tensor."""
        state = self.here
        self.tensor(node, Location.DEVICE)
        if self.loop is not None:
            self.loop.note_backward()
        self._report_split(node, "forward")
        self.graded = max(state.epochs)
        state.phase = Phase("backward", self.loop)
        state.gradients = Gradients(computed=True, placed=True)

    def optimizer_step(self, node: nodes.NodeNG, place: Location) -> None:
        """An optimizer updates parameters."""
        if place is Location.HOST:
            return
        self.tensor(node, Location.DEVICE)
        self.here.updated = True
        if self.loop is not None:
            self.loop.note_optimizer_step()
        self._report_split(node, "backward")
        self.here.phase = None

    def _report_split(self, node: nodes.NodeNG, done: str) -> None:
        phase, condition = self.here.phase, self.here.path_condition
        if (
            phase is not None
            and phase.cut is not None
            and phase.done == done
            and phase.loop is self.loop
            and phase.path_condition >= {c for c in condition if c.condition is not Condition.SETTING}
        ):
            self.emit(SplitStep(phase.cut, self.context, phase.spelled, node))

    def opaque(self, *, reduces: bool = True) -> None:
        """A call that cannot be followed: it might do anything, a barrier included; a reduction where it `reduces`."""
        at = self.at
        if at.loops:
            at.loops[-1].note_opaque()
        if at.state is not None:
            at.state.work = True
            if reduces and at.state.gradients.computed:
                at.state.gradients = Gradients(computed=True, reduced=True)

    def unknown_path(self) -> Value:
        """The result of something that cannot be followed."""
        self.opaque()
        return UNKNOWN
