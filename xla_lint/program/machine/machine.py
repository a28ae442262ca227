"""The abstract machine: one point of the program, the loops and calls around it, and the events so far."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from astroid import nodes

from xla_lint.program.domain.events import (
    Barrier,
    CallSite,
    Collective,
    Condition,
    Constraint,
    Context,
    Event,
    Forward,
    How,
    Read,
    SplitStep,
)
from xla_lint.program.domain.heap import Heap
from xla_lint.program.domain.loaders import Logger
from xla_lint.program.domain.loops import Cut, CutSite, Form, Loop
from xla_lint.program.domain.state import Frame, Gradients, Phase, State
from xla_lint.program.domain.values import (
    FETCHED,
    MATERIALISED,
    NO_PARTS,
    UNKNOWN,
    Device,
    Location,
    Tensor,
    Value,
)
from xla_lint.program.domain.walk import tensors_in
from xla_lint.program.project.project import Project, path_of_module
from xla_lint.program.syntax.index import Index, index_of
from xla_lint.program.syntax.uses import Uses

if TYPE_CHECKING:
    from pathlib import Path

    from xla_lint.program.domain.definitions import Class, Function, GradientHook
    from xla_lint.program.domain.values import Instance, Sequence
    from xla_lint.program.interpreter.internal_errors import InternalError
    from xla_lint.program.project.scope import Version

LONGEST_SOURCE = 48
MODULE = 0
CONSTRUCTORS = -1
"""All constructors without a caller in sight: they run before any method of their object."""
MOST_CALLS = 24
"""How deep calls are followed."""


class Machine(ABC):
    """State and bookkeeping; what expressions, statements and calls mean is added by the subclasses."""

    def __init__(
        self, module: nodes.Module, project: Project, target: Version, budget: int, *, assume_device: bool
    ) -> None:
        self.project = project
        self.modules: dict[Path, Frame] = {}
        """The modules of the project that were run, the entry among them."""
        self.target = target
        self.budget = budget
        """How many more function bodies may be run before calls are no longer followed."""
        self.events: list[Event] = []
        self.errors: list[InternalError] = []
        self.heap = Heap()
        self.globals = self.module_frame(module)
        self.frame = self.globals
        self.state: State | None = State(self.globals.env, frozenset(), frozenset({1}))
        self.loops: list[Loop] = []
        self.calls: list[CallSite] = []
        self.active: list[nodes.NodeNG] = []
        """The functions that are being run, outermost first."""
        self.tests: list[int] = []
        """For each test whose branch is being run, how many loops were around it."""
        self.ran: set[nodes.NodeNG] = set()
        """The statements that were run."""
        self.catching = 0
        """How many `try` statements with handlers are around."""
        self.closure = False
        self.callback = False
        self.in_forward = False
        """True while a module's `forward` runs."""
        self.replicated = False
        self.bindings = 0
        """How many variables of the module were bound so far."""
        self.without_caller = False
        self.entry = MODULE
        """Which entry point is being run: `MODULE`, `CONSTRUCTORS`, or one of those that have no caller in sight."""
        """True while a function runs that has no caller in sight."""
        self.assume_device = assume_device
        """Whether a model or loss known by its use alone lives on the device."""
        self.default_device = Device(Location.HOST)
        """Where `torch.set_default_device` puts what is made."""
        self.operations = 0
        """How many operations on the device were recorded so far."""
        self.visited: set[nodes.NodeNG] = set()
        """The functions whose body was run at least once."""
        self.root_logger = Logger(0)
        self.gradient_hooks: dict[nodes.NodeNG, GradientHook] = {}
        """What runs with the backward pass, by the node of the function."""
        self.concatenations: dict[nodes.NodeNG, tuple[list[Tensor], str, Context]] = {}
        """Each concatenation with a tensor that may come round again: its operands, its source, its context."""
        self.totals: dict[nodes.NodeNG, tuple[nodes.NodeNG, tuple[Loop, ...], Context]] = {}
        """Each running total of tensors with history: its target, the loops around it, its context."""
        self.spent: set[nodes.NodeNG] = set()
        """The running totals whose history `backward()` used up."""
        self._epochs = 1
        self._context: Context | None = None
        self._loops: dict[tuple[Any, ...], Loop] = {}
        self._stacks: dict[Loop, tuple[CallSite, ...]] = {}

    # What the subclasses add.

    @abstractmethod
    def evaluate(self, node: nodes.NodeNG) -> Value:
        """The value of an expression."""

    @abstractmethod
    def run(self, body: Iterable[nodes.NodeNG]) -> None:
        """Run statements until a path ends."""

    @abstractmethod
    def call(self, callee: Value, arguments: Arguments) -> Value:
        """The result of calling a value."""

    @abstractmethod
    def iterate(self, value: Value, loop: Loop | None, node: nodes.NodeNG) -> Value:
        """What iterating a value yields, once; with `loop`, each turn of that loop."""

    @abstractmethod
    def attribute(self, value: Value, name: str, node: nodes.NodeNG) -> Value:
        """The value of an attribute."""

    @abstractmethod
    def bind(self, target: nodes.NodeNG, value: Value) -> None:
        """Assign a value to a target."""

    @abstractmethod
    def instantiate(self, cls: Class, arguments: Arguments) -> Value:
        """An instance of a class of the project."""

    @abstractmethod
    def run_function(self, function: Function, bound: dict[str, Value], node: nodes.NodeNG) -> Value:
        """Run a function's body with its parameters bound."""

    @abstractmethod
    def quietly(self, node: nodes.NodeNG) -> Value:
        """The value of an expression, without its events."""

    @abstractmethod
    def binary(self, node: nodes.NodeNG, op: str, left: Value, right: Value) -> Value:
        """The result of a binary operator."""

    @abstractmethod
    def method(self, receiver: Value, name: str, arguments: Arguments) -> Value:
        """The result of calling a method of a value that is not of the project."""

    @abstractmethod
    def member(self, cls: Class | None, name: str) -> Value | None:
        """A member of a class or of its bases in the project; None where no class in sight defines it."""

    @abstractmethod
    def set_attribute(self, owner: Value, name: str, value: Value) -> None:
        """Set an attribute of an object."""

    @abstractmethod
    def rebind(self, target: nodes.NodeNG | None, old: Value, new: Value) -> None:
        """Let a name that holds a value hold another one."""

    @abstractmethod
    def extend(self, receiver: Sequence, value: Value, node: nodes.NodeNG) -> None:
        """Add another value's items to a list."""

    @abstractmethod
    def call_instance(self, instance: Instance, arguments: Arguments) -> Value:
        """The result of calling an object: a model's `forward`, or `__call__`."""

    @abstractmethod
    def hand_over(self, arguments: Arguments) -> None:
        """Functions given to code that cannot be seen are called by it, again and again."""

    @abstractmethod
    def run_hook(self, function: Function, given: list[Value], node: nodes.NodeNG) -> None:
        """Run a function that a model calls with these values whenever it runs."""

    @abstractmethod
    def changing(self, node: nodes.NodeNG, spelled: str, value: Value, *, shape: bool) -> bool:
        """Report a number that changes from step to step and is built into the graph."""

    @abstractmethod
    def padding(self, node: nodes.NodeNG, spelled: str, value: Value) -> bool:
        """Report a size that is the greatest length of several rows."""

    # Where we are.

    @property
    def here(self) -> State:
        """The state of a reachable point.

        Raises:
            AssertionError: the point is not reachable.
        """
        assert self.state is not None
        return self.state

    @property
    def context(self) -> Context:
        """The context of an event that happens here."""
        loops, path_condition, stack = tuple(self.loops), self.here.path_condition, tuple(self.calls)
        last = self._context
        if (
            last is None
            or last.loops != loops
            or last.path_condition is not path_condition
            or last.stack != stack
            or last.closure is not self.closure
            or last.callback is not self.callback
            or last.replicated is not self.replicated
            or last.module is not self.frame.module
        ):
            last = self._context = Context(
                loops, path_condition, stack, self.closure, self.callback, self.replicated, self.frame.module
            )
        return last

    @property
    def setting(self) -> tuple[Any, ...]:
        """What else holds here and can make a difference to a function that is called."""
        around = (self.without_caller, self.replicated, self.closure, self.callback, self.in_forward)
        return *around, self.bindings, self.default_device

    @property
    def device(self) -> Device:
        """Where tensors and models are made that are not told where."""
        return self.here.device or self.default_device

    @property
    def loop(self) -> Loop | None:
        """The innermost loop."""
        return self.loops[-1] if self.loops else None

    def emit(self, event: Event) -> None:
        """Add an event."""
        self.events.append(event)

    def uses(self, scope: nodes.NodeNG) -> Uses:
        """How names are used below a node of the module that runs."""
        return self.index.uses(scope)

    @property
    def index(self) -> Index:
        """The facts of the module whose code runs."""
        assert self.frame.index is not None
        return self.frame.index

    @property
    def module(self) -> nodes.Module:
        """The module whose code runs."""
        assert self.frame.module is not None
        return self.frame.module

    def module_frame(self, module: nodes.Module) -> Frame:
        """A frame for a module's top level."""
        frame = Frame({}, None, node=module, module=module, index=index_of(module))
        path = path_of_module(module)
        if path is not None:
            self.modules[path] = frame
        return frame

    def loop_at(self, node: nodes.NodeNG, form: Form, function: str) -> Loop:
        """The loop that this node is, in this context: the same one each time the context is the same."""
        parent = self.loop
        key = (node, form, parent, tuple(self.calls), self.closure)
        loop = self._loops.get(key)
        if loop is None:
            loop = self._loops[key] = Loop(node, form, function, parent)
            self._stacks[loop] = tuple(self.calls)
            if parent is not None:
                parent.children.append(loop)
        return loop

    @property
    def function_name(self) -> str:
        """The name of the function that runs."""
        return self.frame.function.name if self.frame.function is not None else ""

    def loop_of(self, node: nodes.NodeNG) -> Loop:
        """The loop that a statement or a comprehension is, in this context."""
        loop = self.loop_at(node, Form.LOOP, self.function_name)
        loop.in_forward = self.in_forward
        loop.certain = not self.without_caller
        loop.anchored = loop.certain or not self.here.grad
        return loop

    def loop_contexts(self) -> Iterator[tuple[Loop, Context]]:
        """Every loop that was run, with the context in which it stands."""
        for loop in self._loops.values():
            around = tuple(reversed(list(loop.around())))
            yield loop, Context(around, frozenset(), self._stacks[loop], False, False)

    def drop(self, loops: Collection[Loop]) -> None:
        """Let loops count as not seen."""
        self._loops = {key: loop for key, loop in self._loops.items() if loop not in loops}

    @contextmanager
    def inside(self, loop: Loop) -> Iterator[None]:
        """Stand inside a loop. An error leaves it on the stack, for the boundary to see."""
        self.loops.append(loop)
        yield
        self.loops.pop()

    @contextmanager
    def under(self, conditions: Iterable[Condition]) -> Iterator[None]:
        """Stand under guards, and leave with those that held before."""
        before = self.here.path_condition
        self.assume(conditions)
        yield
        if self.state is not None:
            self.state.path_condition = before

    def assume(self, conditions: Iterable[Condition]) -> None:
        """Let guards hold from here on."""
        path_condition = frozenset(Constraint(condition, len(self.loops), len(self.calls)) for condition in conditions)
        if not path_condition <= self.here.path_condition:
            self.here.path_condition |= path_condition

    # Tensors.

    def tensor(self, node: nodes.NodeNG, place: Location, **properties: Any) -> Tensor:
        """A tensor that an operation here computes; on the device it is pending."""
        if place is not Location.DEVICE:
            return Tensor(place, MATERIALISED, int(node.lineno or 0), home=self.frame.module, **properties)
        state = self.here
        state.work = True
        self.operations += 1
        if self.loops:
            self.loops[-1].computes = True
        return Tensor(place, max(state.epochs), int(node.lineno or 0), home=self.frame.module, **properties)

    def derived(self, node: nodes.NodeNG, values: Iterable[Value], **properties: Any) -> Tensor:
        """A tensor computed from these values: on the device if one of them is."""
        tensors = [tensor for value in values for tensor in tensors_in(value, 2)]
        place = place_of(tensors)
        properties.setdefault("grad", self.here.grad and any(tensor.grad for tensor in tensors))
        if place is Location.HOST and all(tensor.drawn for tensor in tensors):
            properties["drawn"] = True
        if place is Location.HOST:
            properties.setdefault("parts", NO_PARTS.union(*(tensor.parts for tensor in tensors)))
        properties.setdefault("certain", all(tensor.certain for tensor in tensors))
        properties.setdefault("collective", any(tensor.collective and self.is_pending(tensor) for tensor in tensors))
        properties.setdefault("origins", frozenset(o for tensor in tensors for o in tensor.origins if o.gradient))
        properties.setdefault("shared", bool(tensors) and all(tensor.shared for tensor in tensors))
        if place is Location.HOST and all(tensor.made is not None for tensor in tensors):
            properties.setdefault("made", tensors[0].made)
        return self.tensor(node, place, **properties)

    def is_pending(self, tensor: Tensor) -> bool:
        """Whether reading a tensor here executes a graph, on some path."""
        return tensor.is_pending(self.here.epochs, self.here.materialised)

    # Events that change the state.

    def read(
        self,
        node: nodes.NodeNG,
        subject: nodes.NodeNG | None,
        value: Value,
        how: How,
        spelled: str,
        *,
        materialises: bool = False,
        logger: Logger | None = None,
        level: int = 0,
    ) -> bool:
        """Let the host ask for a value; True where a device tensor was read."""
        found = False
        for tensor in tensors_in(value):
            if tensor.place is not Location.DEVICE:
                self.use_on_host(tensor, chooses=how is How.BRANCH)
                continue
            found = True
            pending = self.is_pending(tensor)
            self.emit(
                Read(
                    node,
                    self.context,
                    how,
                    source_of(subject if subject is not None else node),
                    spelled,
                    tensor,
                    pending,
                    len(self.here.epochs) == 1 or not pending,
                    logger,
                    level,
                )
            )
            if materialises and logger is None and pending:
                self.here.materialised |= {tensor.memory}
            if how is not How.FORMAT:
                break
        return found

    def read_each(
        self,
        arguments: Arguments,
        how: How,
        spelled: str,
        *,
        first: int = 0,
        materialises: bool = False,
        logger: Logger | None = None,
        level: int = 0,
    ) -> bool:
        """Let the host ask for every positional argument from `first` on; True where a device tensor was read."""
        found = False
        for position, value in enumerate(arguments.positional[first:], first):
            subject = arguments.node_of(position)
            found |= self.read(
                arguments.node, subject, value, how, spelled, materialises=materialises, logger=logger, level=level
            )
        return found

    def use_on_host(self, tensor: Tensor, *, chooses: bool = False) -> None:
        """Note the parts of a plain loader's batch whose values the host asks for; `chooses`: to branch on them."""
        parts = tensor.parts - {FETCHED}
        depth = self._depth_of_loader()
        if tensor.place is not Location.HOST or not parts or not depth:
            return
        loop = self.loops[depth - 1]
        if chooses or any(part.whole for part in parts):
            loop.chosen = True
        elif FETCHED in tensor.parts:
            loop.wanted |= parts
        elif not any(
            constraint.condition is Condition.PERIODIC and constraint.depth >= depth
            for constraint in self.here.path_condition
        ):
            loop.used |= parts

    def want_on_device(self, tensor: Tensor) -> None:
        """Note that parts of a plain loader's batch are moved to the device."""
        depth = self._depth_of_loader()
        if depth:
            self.loops[depth - 1].wanted |= tensor.parts

    def _depth_of_loader(self) -> int:
        return next((d for d in range(len(self.loops), 0, -1) if self.loops[d - 1].loader is not None), 0)

    def barrier(self, node: nodes.NodeNG, spelled: str, *, silent: bool = False) -> None:
        """Cut the graph."""
        state = self.here
        self.collective(node, spelled)
        if not silent:
            self.emit(Barrier(node, self.context, spelled, not state.work))
        for depth, loop in enumerate(self.loops, 1):
            inner = {constraint.condition for constraint in state.path_condition if constraint.depth >= depth} - {
                Condition.SETTING
            }
            if all(site.node is not node for site in loop.cuts):
                conditional = bool(inner) or any(test >= depth for test in self.tests)
                loop.cuts.append(CutSite(node, Condition.PERIODIC in inner, conditional, spelled))
        if self.loops:
            self.loops[-1].own_cut = True
        state.epochs = frozenset({self.new_epoch()})
        state.cut = Cut.ALWAYS
        state.materialised = frozenset()
        state.work = False
        if state.phase is not None and state.phase.cut is None and state.phase.loop is self.loop:
            state.phase = Phase(state.phase.done, state.phase.loop, node, state.path_condition)

    def collective(self, node: nodes.NodeNG, spelled: str) -> None:
        """What every replica has to reach; only under a test that may differ between them it is an event."""
        if any(constraint.condition in (Condition.RANK, Condition.DATA) for constraint in self.here.path_condition):
            self.emit(Collective(node, self.context, spelled))

    def new_epoch(self) -> int:
        """A graph segment that begins here."""
        self._epochs += 1
        return self._epochs

    def backward(self, node: nodes.NodeNG) -> None:
        """The backward pass of a device tensor."""
        state = self.here
        self.tensor(node, Location.DEVICE)
        if self.loop is not None:
            self.loop.backward = True
        self._report_split(node, "forward")
        state.phase = Phase("backward", self.loop)
        state.gradients = Gradients(computed=True, placed=True)

    def forward(self, node: nodes.NodeNG, model: Instance) -> None:
        """A model on the device is called."""
        self.emit(Forward(node, self.context, model, model.place, model.prepared))
        if self.loop is not None:
            self.loop.model = True
        if self.here.grad and self.here.phase is None:
            self.here.phase = Phase("forward", self.loop)

    def optimizer_step(self, node: nodes.NodeNG, place: Location) -> None:
        """An optimizer updates parameters."""
        if place is Location.HOST:
            return
        self.tensor(node, Location.DEVICE)
        if self.loop is not None:
            self.loop.optimizer = True
        self._report_split(node, "backward")
        self.here.phase = None

    def _report_split(self, node: nodes.NodeNG, done: str) -> None:
        phase = self.here.phase
        if (
            phase is not None
            and phase.cut is not None
            and phase.done == done
            and phase.loop is self.loop
            and phase.path_condition
            >= {constraint for constraint in self.here.path_condition if constraint.condition is not Condition.SETTING}
            and all(
                constraint.condition is not Condition.PERIODIC or constraint.depth < len(self.loops)
                for constraint in self.here.path_condition
            )
        ):
            self.emit(SplitStep(phase.cut, self.context, int(node.lineno or 0)))

    def opaque(self) -> None:
        """A call that cannot be followed: it might do anything, a barrier or a reduction included."""
        if self.loops:
            self.loops[-1].opaque = True
        if self.state is not None:
            self.state.work = True
            if self.state.gradients.computed:
                self.state.gradients = Gradients(computed=True, reduced=True)

    def unknown_path(self, node: nodes.NodeNG) -> Value:
        """The result of something that cannot be followed."""
        self.opaque()
        return UNKNOWN


class Arguments:
    """The arguments of one call."""

    __slots__ = ("keywords", "node", "positional", "unpacked")

    def __init__(
        self,
        node: nodes.NodeNG,
        positional: list[Value],
        keywords: dict[str, Value] | None = None,
        unpacked: bool = False,
    ) -> None:
        self.node = node
        self.positional = positional
        self.keywords = keywords if keywords is not None else {}
        self.unpacked = unpacked
        """True where `*args` or `**kwargs` may bring more."""

    def get(self, position: int, keyword: str = "") -> Value | None:
        """The argument for a parameter, None where it is not given."""
        if keyword in self.keywords:
            return self.keywords[keyword]
        return self.positional[position] if position < len(self.positional) else None

    def values(self) -> list[Value]:
        """Every argument."""
        return [*self.positional, *self.keywords.values()]

    def tensors(self) -> list[Tensor]:
        """Every tensor among the arguments and in their containers."""
        return [tensor for value in self.values() for tensor in tensors_in(value, 2)]

    def node_of(self, position: int, keyword: str = "") -> nodes.NodeNG | None:
        """The expression given for a parameter, None where it cannot be told."""
        if not isinstance(self.node, nodes.Call):
            return None
        for item in self.node.keywords:
            if item.arg == keyword:
                return item.value
        if position < len(self.node.args) and not any(isinstance(a, nodes.Starred) for a in self.node.args):
            return self.node.args[position]
        return None


def place_of(tensors: Iterable[Tensor]) -> Location:
    """Where the result of an operation on these tensors lives."""
    places = {tensor.place for tensor in tensors}
    if Location.DEVICE in places:
        return Location.DEVICE
    return Location.UNKNOWN if Location.UNKNOWN in places or not places else Location.HOST


def device_tensors(values: Iterable[Value]) -> list[Tensor]:
    """The device tensors among values and in their containers."""
    return [t for value in values for t in tensors_in(value, 2) if t.place is Location.DEVICE]


def source_of(node: nodes.NodeNG) -> str:
    """An expression as a message shows it."""
    text = " ".join(node.as_string().split())
    return text if len(text) <= LONGEST_SOURCE else text[: LONGEST_SOURCE - 1] + "…"
