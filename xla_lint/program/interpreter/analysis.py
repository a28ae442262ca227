"""One module, interpreted: what happens, as a list of events."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from astroid import nodes

from xla_lint.program.domain.events import Event, LibraryCall
from xla_lint.program.domain.loops import Form
from xla_lint.program.domain.objects import bound_to, is_model, library_base
from xla_lint.program.domain.ranks import RANK
from xla_lint.program.domain.state import State
from xla_lint.program.domain.values import (
    UNKNOWN,
    Class,
    Device,
    Function,
    Instance,
    Loader,
    Location,
    Mapping,
    Tensor,
    Value,
)
from xla_lint.program.interpreter.flow import Flow
from xla_lint.program.interpreter.internal_errors import Boundary
from xla_lint.program.library.hooks import hook_keywords, hook_parameters
from xla_lint.program.library.networks import place_model
from xla_lint.program.library.optimizers import report_outdated
from xla_lint.program.machine.machine import CONSTRUCTORS, MODULE
from xla_lint.program.project.marks import REPLICA_FUNCTION
from xla_lint.program.project.project import Project

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.loops import Loop
    from xla_lint.program.project.scope import Version
    from xla_lint.program.syntax.uses import Use

BUDGET = 4000
"""How many function bodies are run for one module at most."""


@dataclass(eq=False)
class Program:
    """What the analysis of a program found, for rules to read: the events of all its modules."""

    module: nodes.Module
    """The module that was run."""
    target: Version
    events: list[Event] = field(default_factory=list)
    project: Project = field(default_factory=Project)
    importing: frozenset[str] = frozenset()
    """The library calls of the programs that import the module, where it is looked at by itself."""
    alone: bool = False
    """True where no other module took part."""

    def inside(self, loop: Loop) -> list[Event]:
        """The events that happen in a loop, at any depth."""
        return self._by_loop.get(loop, [])

    def at(self, node: nodes.NodeNG) -> list[Event]:
        """The events that happen at a node."""
        return self._by_node.get(node, [])

    @cached_property
    def called(self) -> frozenset[str]:
        """The dotted names of the library calls."""
        return frozenset(event.name for event in self.events if isinstance(event, LibraryCall))

    @cached_property
    def _by_loop(self) -> dict[Loop, list[Event]]:
        found: dict[Loop, list[Event]] = defaultdict(list)
        for event in self.events:
            for loop in event.context.loops:
                found[loop].append(event)
        return dict(found)

    @cached_property
    def _by_node(self) -> dict[nodes.NodeNG, list[Event]]:
        found: dict[nodes.NodeNG, list[Event]] = defaultdict(list)
        for event in self.events:
            found[event.node].append(event)
        return dict(found)

    @property
    def barrier(self) -> str:
        """How the target release spells a barrier."""
        return "torch_xla.sync()" if self.target >= (2, 4) else "xm.mark_step()"


class Roots:
    """Runs what the module's own top level did not reach: hooks, `forward`, and functions without a caller in sight."""

    def __init__(self, machine: Flow, functions: set[int], statements: set[int]) -> None:
        """Take a machine that ran the top level, and the lines that other programs reached."""
        self.machine = machine
        self.reached_functions = functions
        self.reached_statements = statements
        self.instances: dict[nodes.NodeNG, Instance] = {}
        self.entries = MODULE
        self.touched: frozenset[tuple[nodes.NodeNG, str]] = frozenset()
        """What initialises the runtime as the module is imported."""
        self.device = machine.default_device

    def run(self) -> None:
        """Run every function that was not run yet, callers before callees where that can be told."""
        machine = self.machine
        if machine.state is None:
            machine.state = State(machine.globals.env, frozenset(), frozenset({1}))
        machine.globals.env = machine.here.env
        self.touched = machine.here.touched
        self.device = machine.default_device
        functions = list(self._functions())
        for function in functions:
            if hook_parameters(function) is not None and function.node.lineno not in self.reached_functions:
                self._run(function, Form.HOOK)
        for function in self._callers_first(functions):
            if not self._was_run(function.node) and not self._is_dead(function):
                self._run(function, self._form(function))
        for node, instance in self.instances.items():
            with Boundary(machine, node):
                for value in instance.attributes.values():
                    report_outdated(machine, value)

    def _callers_first(self, functions: list[Function]) -> list[Function]:
        """The functions in such an order that those that mention one come before it; the last one first otherwise."""
        by_node: dict[nodes.NodeNG, Function] = {function.node: function for function in functions}
        order: dict[Function, None] = {}
        entered: set[Function] = set()
        left: dict[int, Iterator[nodes.NodeNG]] = {}
        """What is left to look at of each list of mentions: functions of one name share theirs."""
        starts = list(reversed(functions))
        starts.sort(key=lambda function: any(True for _ in self._mentions(function)))
        for start in starts:
            path: list[tuple[Function, Iterator[nodes.NodeNG]]] = []
            waiting: Function | None = start
            while path or waiting is not None:
                if waiting is not None:
                    entered.add(waiting)
                    named = self._named(waiting)
                    path.append((waiting, left.setdefault(id(named), iter(named))))
                callers = (by_node.get(node.frame()) for node in path[-1][1])
                waiting = next((caller for caller in callers if caller is not None and caller not in entered), None)
                if waiting is None:
                    order[path.pop()[0]] = None
        return list(order)

    def _mentions(self, function: Function) -> Iterator[nodes.NodeNG]:
        """Where its module names a function, outside the function itself."""
        return (node for node in self._named(function) if not function.node.parent_of(node))

    def _named(self, function: Function) -> list[Any]:
        """Where its module uses a function's name."""
        index = function.frame.index or self.machine.index
        return (index.mentioned if function.owner is None else index.attributes)[function.name]

    def _is_dead(self, function: Function) -> bool:
        """Whether nothing mentions a function but statements that the code around them never comes to."""
        mentioned = False
        for node in self._mentions(function):
            if not self._is_passed_by(node):
                return False
            mentioned = True
        return mentioned

    def _is_passed_by(self, node: nodes.NodeNG) -> bool:
        statement, around = node.statement(), node.frame()
        if statement in self.machine.ran or statement.lineno in self.reached_statements:
            return False
        return isinstance(around, nodes.Module) or self._was_run(around)

    def _was_run(self, function: nodes.NodeNG) -> bool:
        return function in self.machine.visited or function.lineno in self.reached_functions

    def _functions(self) -> list[Function]:
        found: list[Function] = []
        for value in list(self.machine.globals.env.values()):
            if isinstance(value, Function) and value.node.root() is self.machine.module:
                found.append(value)
            elif isinstance(value, Class) and isinstance(value.node, nodes.ClassDef):
                found.extend(
                    member
                    for member in value.members.values()
                    if isinstance(member, Function) and member.owner is value
                )
        return sorted(dict.fromkeys(found), key=lambda function: int(function.node.lineno or 0))

    def _form(self, function: Function) -> Form | None:
        if function.owner is not None and is_model(function.owner) and function.name == "forward":
            return Form.FORWARD
        uses = self.machine.uses(function.node)
        steps = any(use.is_optimizer or "step" in use.methods for use in uses.values())
        if steps and any(use.is_loss for use in uses.values()) and not self.machine.index.has_loop(function.node):
            return Form.STEP
        return None

    def _run(self, function: Function, form: Form | None) -> None:
        machine = self.machine
        if machine.budget <= 0 or isinstance(function.node, nodes.Lambda):
            return
        machine.state = State(dict(machine.globals.env), frozenset(), frozenset({1}), touched=self.touched)
        machine.frame = machine.globals
        machine.default_device = self.device
        with Boundary(machine, function.node):
            self._start(function, form)

    def _start(self, function: Function, form: Form | None) -> None:
        machine = self.machine
        target = function
        if function.owner is not None and not function.static:
            target = bound_to(function, function.owner if function.bound_class else self._instance(function.owner))
        bound = self._parameters(target, form)
        loop = machine.loop_at(function.node, form, function.name) if form is not None else None
        if loop is not None:
            machine.loops.append(loop)
        before, machine.in_forward = machine.in_forward, form is Form.FORWARD
        machine.replicated = function.name == REPLICA_FUNCTION and function.owner is None
        if machine.replicated and function.node.args.args:
            bound[function.node.args.args[0].name] = RANK
        self.entries += 1
        machine.entry = self.entries
        if function.node in machine.index.generators:
            before_callback, machine.callback = machine.callback, True
            machine.activate(target, bound)
            machine.callback = before_callback
        else:
            callback = machine.callback
            machine.callback = is_callback(function)
            returned, _ = machine.activate(target, bound)
            report_outdated(machine, returned)
            machine.callback = callback
        machine.in_forward = before
        if loop is not None:
            machine.loops.pop()

    def _instance(self, cls: Class) -> Instance:
        """An instance of a class whose constructor has no caller in sight."""
        found = self.instances.get(cls.node)
        if found is None:
            machine = self.machine
            model = is_model(cls)
            found = Instance(
                cls, library_base(cls), place=Location.DEVICE if model else Location.UNKNOWN, model=model, certain=False
            )
            self.instances[cls.node] = found
            init = machine.member(cls, "__init__")
            if isinstance(init, Function):
                bound = bound_to(init, found)
                entry, machine.entry = machine.entry, CONSTRUCTORS
                machine.activate(bound, self._parameters(bound, None))
                machine.entry = entry
            if model:
                place_model(machine, found, Location.DEVICE, certain=False)
        return found

    def _parameters(self, function: Function, form: Form | None) -> dict[str, Value]:
        """A function's parameters, as their use and annotations show them."""
        spec = function.node.args
        uses = self.machine.uses(function.node)
        instance = function.receiver if isinstance(function.receiver, Instance) else None
        bound: dict[str, Value] = {}
        parameters = [*(spec.posonlyargs or []), *(spec.args or []), *(spec.kwonlyargs or [])]
        notes = {
            **dict(zip([a.name for a in spec.args or []], spec.annotations or [], strict=False)),
            **dict(zip([a.name for a in spec.kwonlyargs or []], spec.kwonlyargs_annotations or [], strict=False)),
        }
        skip = 1 if function.receiver is not None and not function.static and parameters else 0
        if skip:
            assert function.receiver is not None
            bound[parameters[0].name] = function.receiver
        given = hook_parameters(function) if form is Form.HOOK else None
        named = hook_keywords(function) if form is Form.HOOK else {}
        for position, parameter in enumerate(parameters[skip:]):
            if given is not None and position < len(given):
                bound[parameter.name] = given[position]
            elif parameter.name in named:
                bound[parameter.name] = named.pop(parameter.name)
            else:
                bound[parameter.name] = (
                    seeded(uses.get(parameter.name), notes.get(parameter.name), form, instance)
                    if self.machine.assume_device
                    else UNKNOWN
                )
        if spec.vararg:
            bound[spec.vararg] = UNKNOWN
        if spec.kwarg:
            bound[spec.kwarg] = Mapping(named, UNKNOWN) if named else UNKNOWN
        return bound


def seeded(use: Use | None, annotation: nodes.NodeNG | None, form: Form | None, instance: Instance | None) -> Value:
    """What a parameter without an argument in sight stands for."""
    noted = annotation.as_string() if annotation is not None else ""
    last = noted.strip("'\"").rpartition(".")[2]
    if use is not None and use.is_loss:
        return Tensor(Location.DEVICE, recorded_in=1, grad=True, certain=False)
    if (use is not None and use.is_optimizer) or last == "Optimizer":
        return Instance(None, "torch.optim.Optimizer", place=Location.DEVICE, certain=False)
    if (use is not None and use.is_model) or last == "Module":
        return Instance(None, "torch.nn.Module", place=Location.DEVICE, model=True, certain=False)
    if last == "DataLoader":
        return Loader(None, UNKNOWN)
    if last == "MpDeviceLoader":
        return Loader(None, Tensor(Location.DEVICE, unstructured=True, certain=False), wrapped=True)
    if last.startswith("PreTrainedTokenizer"):
        return Instance(None, "transformers.PreTrainedTokenizer", certain=False)
    in_step = form in (Form.FORWARD, Form.HOOK)
    if last in ("Tensor", "LongTensor", "FloatTensor") or last.startswith(("Tensor |", "Optional[Tensor")):
        return Tensor(Location.DEVICE if in_step else Location.UNKNOWN, certain=False)
    if use is not None and use.placed and not in_step:
        return Device(Location.DEVICE, certain=False)
    if form is Form.FORWARD and not noted and use is not None:
        inside = instance is not None and any(
            isinstance(value := instance.attributes.get(name), Instance) and value.model for name in use.given_to
        )
        if use.is_tensor or inside:
            return Tensor(Location.DEVICE, certain=False)
    return UNKNOWN


def is_callback(function: Function) -> bool:
    """Whether a function without a caller in sight is one that a loader calls for each row or batch."""
    if function.owner is None:
        return False
    base = library_base(function.owner)
    if function.name == "__getitem__":
        return True
    return function.name == "__call__" and (not base or base.startswith("transformers.DataCollator"))
