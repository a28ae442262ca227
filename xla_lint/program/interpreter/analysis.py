"""One module, interpreted: what happens, as a list of events."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from astroid import nodes

from xla_lint.program.domain.definitions import Class, Function
from xla_lint.program.domain.events import Event, Launch, LibraryCall, LoopRun
from xla_lint.program.domain.loaders import Loader
from xla_lint.program.domain.loops import Form
from xla_lint.program.domain.objects import bound_to, is_model, library_base
from xla_lint.program.domain.ranks import RANK
from xla_lint.program.domain.state import State
from xla_lint.program.domain.values import (
    UNKNOWN,
    Device,
    Instance,
    Location,
    Mapping,
    Tensor,
    Text,
    Value,
)
from xla_lint.program.interpreter.flow import Flow
from xla_lint.program.interpreter.internal_errors import Boundary, Contained
from xla_lint.program.library.hooks import hook_keywords, hook_parameters
from xla_lint.program.library.networks import place_model
from xla_lint.program.library.optimizers import report_outdated
from xla_lint.program.library.registry import is_device
from xla_lint.program.library.xla import DEVICES
from xla_lint.program.machine.machine import CONSTRUCTORS, MODULE
from xla_lint.program.project.project import Project
from xla_lint.program.project.scope import Domain, of_xla, runs_on_xla
from xla_lint.program.syntax.api_uses import api_uses
from xla_lint.program.syntax.environment import environment_sets
from xla_lint.program.syntax.reachable import ReachableCode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from xla_lint.program.domain.loops import Loop
    from xla_lint.program.interpreter.internal_errors import InternalError
    from xla_lint.program.project.scope import Version
    from xla_lint.program.syntax.uses import Use

ENTRY = "_mp_fn"
"""The function that launchers of replicas look for in a script."""
BUDGET = 4000
"""How many function bodies are run for one module at most."""


@dataclass(eq=False)
class Program:
    """What the analysis of a program found, for rules to read: one module of it, and the events of all its modules."""

    module: nodes.Module
    """The module that is checked."""
    target: Version
    events: list[Event] = field(default_factory=list)
    project: Project = field(default_factory=Project)
    entry: Path | None = None
    """The module that was run, where it is another one."""
    through: frozenset[Domain] = frozenset()
    """What the program of that entry takes part in."""
    alone: bool = False
    """True where no other module took part."""
    importing: list[Event] = field(default_factory=list)
    """What happens in the programs that import the module, where it is looked at by itself."""
    errors: list[InternalError] = field(default_factory=list)

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


@dataclass(slots=True)
class Run:
    """One program, run from its entry: the modules that took part, what happened, what was run, what failed."""

    modules: dict[Path, nodes.Module]
    events: list[Event]
    visited: set[nodes.NodeNG]
    """The functions that were run."""
    ran: set[nodes.NodeNG]
    """The statements that were run."""
    errors: list[InternalError]
    asks_for_xla: bool
    """Whether it asks for the XLA device, puts something there or launches replicas, as far as can be followed."""


@dataclass(slots=True)
class Reached:
    """What the programs that import a module ran of it, by line."""

    functions: set[int] = field(default_factory=set)
    statements: set[int] = field(default_factory=set)

    def add(self, run: Run, module: nodes.Module) -> None:
        """Note what one of them ran of its copy of the module."""
        self.functions |= {int(node.lineno or 0) for node in run.visited if node.root() is module}
        self.statements |= {int(node.lineno or 0) for node in run.ran if node.root() is module}


def run_program(entry: nodes.Module, project: Project, target: Version, reached: Reached | None = None) -> Run:
    """Interpret a program from its entry module.

    Functions of the entry module that others have `reached` are run only if something calls them.
    """
    path = project.file_of(entry)
    assumed = runs_on_xla(entry) or (path is not None and project.is_launched(path))
    machine = Flow(entry, project, target, BUDGET, assume_device=assumed)
    machine.globals.env["__name__"] = Text("__main__", fact=True)
    machine.run_definitions(entry.body)
    machine.without_caller = True
    Roots(machine, reached or Reached()).run()
    loops = [LoopRun(loop.node, context, loop) for loop, context in machine.loop_contexts()]
    for event in loops:
        event.loop.settle()
    modules = {place: frame.module for place, frame in machine.modules.items() if frame.module is not None}
    asks = any(map(asks_for_xla, machine.events))
    return Run(modules, [*machine.events, *loops], machine.visited, machine.ran, machine.errors, asks)


def analyse(module: nodes.Module, project: Project, target: Version, *, alone: bool) -> list[Program]:
    """Interpret the programs that a module takes part in, and list what happens.

    These are the programs that import it, and the module itself: `alone` says whether it belongs to an XLA program
    by its own imports, so that what no program reaches in it is looked at as well. So is a module that no run reaches,
    unless all programs that import it turn out to run elsewhere than on XLA.
    """
    path = project.file_of(module)
    programs: list[Program] = []
    reached = Reached()
    belongs = True
    if path is not None and project.holds(module):
        entries = project.entries(path)
        belongs = not entries or project.is_launched(path) or project.means_xla(path)
        for entry in entries:
            run = entry_run(entry, project, target)
            own = run.modules.get(path) if run is not None else None
            through = project.speaks(entry)
            if run is not None and not (run.asks_for_xla or project.means_xla(entry)):
                through -= {Domain.XLA}
            belongs |= bool(through)
            if run is not None and own is not None:
                programs.append(Program(own, target, run.events, project, entry, through, errors=run.errors))
                reached.add(run, own)
    if alone or (belongs and not programs):
        run = run_program(module, project, target, reached)
        stated: list[Event] = []
        with Contained(run.errors, module):
            code = ReachableCode(module, target)
            stated += [*api_uses(code), *environment_sets(code)]
        several = len(run.modules) > 1
        importing = [event for program in programs for event in program.events]
        events = [*run.events, *stated]
        programs.append(
            Program(module, target, events, project, alone=not several, importing=importing, errors=run.errors)
        )
    return programs


def asks_for_xla(event: Event) -> bool:
    """Whether an event shows that a run is one on XLA; calls of torch_xla alone may serve other devices too."""
    if not isinstance(event, LibraryCall):
        return isinstance(event, Launch)
    kin = of_xla(event.name) and not event.name.startswith("torch_xla.")
    return kin or event.name in DEVICES or any(map(is_device, (*event.args, *event.kwargs.values())))


def entry_run(entry: Path, project: Project, target: Version) -> Run | None:
    """The run of a program of the project, which is kept; None where its entry cannot be parsed."""

    def run() -> Run | None:
        tree = project.tree(entry)
        return run_program(tree, project, target) if tree is not None else None

    return project.kept((entry, target), run)


class Roots:
    """Runs what the module's own top level did not reach: hooks, `forward`, and functions without a caller in sight."""

    def __init__(self, machine: Flow, reached: Reached) -> None:
        self.machine = machine
        self.reached = reached
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
            if hook_parameters(function) is not None and function.node.lineno not in self.reached.functions:
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
        starts = list(reversed(functions))
        starts.sort(key=lambda function: bool(self._mentions(function)))
        for start in starts:
            path: list[tuple[Function, Iterator[nodes.NodeNG]]] = []
            waiting: Function | None = start
            while path or waiting is not None:
                if waiting is not None:
                    entered.add(waiting)
                    path.append((waiting, iter(self._mentions(waiting))))
                callers = (by_node.get(node.frame()) for node in path[-1][1])
                waiting = next((caller for caller in callers if caller is not None and caller not in entered), None)
                if waiting is None:
                    order[path.pop()[0]] = None
        return list(order)

    def _mentions(self, function: Function) -> list[nodes.NodeNG]:
        """Where its module names a function, outside the function itself."""
        index = function.frame.index or self.machine.index
        named: list[Any] = (index.mentioned if function.owner is None else index.attributes)[function.name]
        return [node for node in named if not function.node.parent_of(node)]

    def _is_dead(self, function: Function) -> bool:
        """Whether nothing mentions a function but statements that the code around them never comes to."""
        mentions = self._mentions(function)
        return bool(mentions) and all(self._is_passed_by(node) for node in mentions)

    def _is_passed_by(self, node: nodes.NodeNG) -> bool:
        statement, around = node.statement(), node.frame()
        if statement in self.machine.ran or statement.lineno in self.reached.statements:
            return False
        return isinstance(around, nodes.Module) or self._was_run(around)

    def _was_run(self, function: nodes.NodeNG) -> bool:
        return function in self.machine.visited or function.lineno in self.reached.functions

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
        machine.replicated = function.name == ENTRY and function.owner is None
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
