"""The programs that a module takes part in, each run once for all modules of it that are checked."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from astroid import nodes

from xla_lint.knowledge.operations import FACTORIES
from xla_lint.program.backend import backend_of, package_of, role_of
from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.events import Event, Launch, LibraryCall, LoopRun
from xla_lint.program.domain.steps import decide
from xla_lint.program.domain.values import Device, Location, Text, options
from xla_lint.program.interpreter.aims import aims_of, aims_of_parts
from xla_lint.program.interpreter.api_uses import api_uses
from xla_lint.program.interpreter.entry_points import EntryPoints
from xla_lint.program.interpreter.environment import environment_sets
from xla_lint.program.interpreter.interpreter import Interpreter
from xla_lint.program.interpreter.modes import mode_of
from xla_lint.program.interpreter.statements import run_definitions
from xla_lint.program.library.devices import NAMING, is_device
from xla_lint.program.machine.internal_errors import Contained
from xla_lint.program.project.scope import Domain
from xla_lint.program.project.statements import drives_device, is_of_xla
from xla_lint.program.queries import Program
from xla_lint.program.syntax.reachable import ReachableCode

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable
    from pathlib import Path

    from xla_lint.program.backend.aim import Aim
    from xla_lint.program.backend.backend import Backend
    from xla_lint.program.domain.values import Value
    from xla_lint.program.machine.internal_errors import InternalError
    from xla_lint.program.machine.limits import GivenUp
    from xla_lint.program.project.membership import Membership
    from xla_lint.program.project.project import Project
    from xla_lint.program.project.scope import Version

T = TypeVar("T")
XLA = frozenset({Domain.XLA})
ASKING = (Role.DEVICE, Role.DEVICES)
NAMED_BY = frozenset({"to", "Generator", "init_process_group", "compile"}) | FACTORIES
"""The functions and methods, by last name, whose texts name the device of a native backend."""


@dataclass(slots=True)
class Reached:
    """What programs ran of a module, by line, and what they call."""

    functions: set[int] = field(default_factory=set)
    statements: set[int] = field(default_factory=set)
    called: set[str] = field(default_factory=set)
    """The dotted names of all library calls of these programs."""

    def add(self, other: Reached) -> None:
        """Add what another program ran."""
        self.functions |= other.functions
        self.statements |= other.statements
        self.called |= other.called


@dataclass(slots=True)
class Run(Generic[T]):
    """One program, run from its entry: the modules that took part, what was run, what was made of what happened.

    What happened is itself not kept.
    """

    modules: dict[Path, nodes.Module]
    reached: dict[nodes.Module, Reached]
    """What was run of each module that has a file, where there are several."""
    verdict: T
    uses_xla: bool
    """Whether it asks for the XLA device, puts something there or launches replicas, as far as can be followed."""
    names_xla: bool
    """Whether it does so by the name of the device or by torch_xla and its kin, not by what a framework chooses."""
    errors: list[InternalError]
    given_up: tuple[GivenUp, ...]
    """Where it was not followed further."""


@dataclass(frozen=True, slots=True)
class Judge(Generic[T]):
    """Who makes something of what happens in a program."""

    judge: Callable[[Program, frozenset[Domain]], T]
    """Given a program, and all that it or a module of it may take part in."""
    key: Hashable
    """Two judges with the same key judge alike."""


@dataclass(frozen=True, slots=True)
class Part(Generic[T]):
    """A module's part in one program."""

    module: nodes.Module
    """The tree of the module that was run."""
    run: Run[T]
    through: frozenset[Domain]
    """What the module takes part in through the program."""
    entry: Path | None = None
    """The file that was run, where it is another one."""


class Goal(NamedTuple):
    """What the user says of the programs."""

    target: Version
    """The release of torch_xla that they must run on."""
    backend: Backend | None = None
    """The backend that they are for, whatever they say themselves."""
    everything: bool = False
    """Whether each module is taken for a part of a program that drives the device."""


def analyse(
    module: nodes.Module, project: Project, goal: Goal, membership: Membership, judge: Judge[T]
) -> list[Part[T]]:
    """Interpret the programs that a module takes part in.

    These are the programs that import it, and the module itself where it belongs to an XLA program by its own imports,
    so that what no program reaches in it is looked at as well. So is a module that no run reaches, unless all programs
    that import it turn out to run elsewhere than on XLA, and a program that may ask for the XLA device through what it
    imports. A program for several backends is run once for each.
    """
    path = project.file_of(module)
    parts: list[Part[T]] = []
    reached = Reached()
    adopted = path is not None and project.adopts(module)
    programs = membership.programs if adopted else ()
    belongs = not programs or membership.is_launched or membership.commits_to_xla
    for entry in programs:
        known = project.membership(entry)
        for run in file_runs(entry, project, goal, known.as_program | membership.own, judge):
            through = known.as_program
            if not (run.uses_xla or known.commits_to_xla):
                through -= XLA
            belongs |= bool(through)
            own = run.modules.get(path) if path is not None else None
            if own is not None:
                parts.append(Part(own, run, through, entry))
                reached.add(run.reached[own])
    candidate = membership.may_be_xla
    if membership.own or candidate or (belongs and not parts):
        domains = membership.as_program | membership.domains
        runs: tuple[Run[T], ...] = ()
        if path is not None and adopted and not parts and project.keeps(path):
            runs = file_runs(path, project, goal, domains, judge)
        for run in runs or run_programs(module, project, goal, domains, judge, reached):
            own = run.modules.get(path) if path is not None else None
            through = membership.through | (XLA if candidate and run.names_xla else frozenset())
            parts.append(Part(module if own is None else own, run, through))
    return parts


def file_runs(
    entry: Path, project: Project, goal: Goal, domains: frozenset[Domain], judge: Judge[T]
) -> tuple[Run[T], ...]:
    """The runs of a program of the project, which are kept; none where its entry cannot be parsed."""

    def run() -> tuple[Run[T], ...]:
        tree = project.tree(entry)
        return () if tree is None else run_programs(tree, project, goal, domains, judge, Reached())

    return project.kept((entry, goal, domains, judge.key), run)


def run_programs(
    entry: nodes.Module,
    project: Project,
    goal: Goal,
    domains: frozenset[Domain],
    judge: Judge[T],
    reached: Reached,
) -> tuple[Run[T], ...]:
    """Interpret a program from its entry module, once for each backend that it is for.

    Functions of the entry module that others have `reached` are run only if something calls them.
    """

    def run(aim: Aim) -> Run[T]:
        return _run(entry, project, goal, aim, domains, judge, reached)

    aims = aims_of(entry, project, goal.backend)
    tried = [found for found in map(run, aims.perhaps) if found.names_xla]
    runs = tried if tried and not aims.supports_all else [*tried, *map(run, aims.sure)]
    if not tried and not aims.told:
        others = (part for found in runs for part in found.modules.values() if part is not entry)
        runs = [run(aim) for aim in aims_of_parts(others)] or runs
    return tuple(runs)


def _run(
    entry: nodes.Module,
    project: Project,
    goal: Goal,
    aim: Aim,
    domains: frozenset[Domain],
    judge: Judge[T],
    reached: Reached,
) -> Run[T]:
    target = goal.target
    happened = _interpreted(entry, project, goal, aim, reached)
    stated: list[Event] = []
    with Contained(happened.errors, entry):
        own = {node: dotted for node, dotted in happened.named.items() if node.root() is entry}
        code = ReachableCode(entry, target, own)
        stated += [*api_uses(code, own), *([] if aim.is_native else environment_sets(code))]
    alone = len(happened.modules) <= 1
    events = [*happened.events, *stated]
    mode = mode_of(aim.backend, [entry, *happened.modules.values()], events)
    program = Program(entry, target, events, project, aim, mode, alone, frozenset(reached.called))
    return Run(
        happened.modules,
        {} if alone else ran_by_module(happened, program.called),
        judge.judge(program, domains),
        any(uses_device(event, aim.backend) for event in happened.events),
        names_lazy_device(entry, happened.events, aim.backend),
        happened.errors,
        happened.given_up,
    )


class Happened(NamedTuple):
    """What is left of a program once it was interpreted."""

    modules: dict[Path, nodes.Module]
    events: list[Event]
    functions: set[nodes.NodeNG]
    """Those that were run."""
    statements: set[nodes.NodeNG]
    errors: list[InternalError]
    given_up: tuple[GivenUp, ...]
    named: dict[nodes.NodeNG, str]
    """What attributes name of torch_xla."""


def _interpreted(entry: nodes.Module, project: Project, goal: Goal, aim: Aim, reached: Reached) -> Happened:
    path = project.file_of(entry)
    launched = path is not None and project.membership(path).is_launched
    assumed = goal.everything or launched or drives_device(entry)
    machine = Interpreter(entry, project, goal.target, aim, assume_device=assumed)
    machine.globals.env["__name__"] = Text("__main__", fact=True)
    run_definitions(machine, entry.body)
    machine.without_caller = True
    EntryPoints(machine, reached.functions, reached.statements).run()
    loops = [LoopRun(loop.node, context, loop) for loop, context in machine.loop_table.contexts()]
    decide(machine.loop_table.outermost)
    modules = {place: frame.module for place, frame in machine.modules.items() if frame.module is not None}
    events = [*machine.events, *loops]
    given_up = machine.limits.given_up
    return Happened(modules, events, machine.visited, machine.ran, machine.errors, given_up, machine.named)


def ran_by_module(happened: Happened, called: Collection[str]) -> dict[nodes.Module, Reached]:
    """What a program ran of each of its modules; `called` names all library calls in it."""
    lines: dict[nodes.NodeNG, tuple[set[int], set[int]]] = defaultdict(lambda: (set(), set()))
    for function in happened.functions:
        lines[function.root()][0].add(int(function.lineno or 0))
    for statement in happened.statements:
        lines[statement.root()][1].add(int(statement.lineno or 0))
    names = set(called)
    return {module: Reached(*lines[module], names) for module in happened.modules.values()}


def names_lazy_device(entry: nodes.Module, events: Collection[Event], backend: Backend) -> bool:
    """Whether a program asks for a device of a backend by its name, or launches replicas, or calls kin of a backend.

    A device that only a helper asks for shows this where the script itself puts something there.
    """
    asked = [event for event in events if names_device(event, backend)]
    if any(event.node.root() is entry or not _asks_backend(event) for event in asked):
        return True
    own = (event for event in events if isinstance(event, LibraryCall) and event.node.root() is entry)
    return bool(asked) and any(_is_surely_lazy(value) for event in own for value in _given(event))


def _asks_backend(event: Event) -> bool:
    """Whether an event is a call that asks a backend for the device."""
    return isinstance(event, LibraryCall) and role_of(event.name) in ASKING


def _is_surely_lazy(value: Value) -> bool:
    """Whether a device is the lazy one, or the host's where there is none."""
    found = options(value)
    devices = [option for option in found if isinstance(option, Device) and option.certain]
    places = {device.place for device in devices}
    return len(devices) == len(found) and Location.DEVICE in places and places <= {Location.DEVICE, Location.HOST}


def uses_device(event: Event, backend: Backend) -> bool:
    """Whether an event shows that a run is one on a lazy device; other calls of a backend may serve any device."""
    if names_device(event, backend):
        return True
    return isinstance(event, LibraryCall) and any(is_device(value, backend) for value in _given(event))


def names_device(event: Event, backend: Backend) -> bool:
    """Whether an event asks for a backend's device by its name, or for its replicas or what its kin give.

    What asks another backend tells nothing of this one.
    """
    if not isinstance(event, LibraryCall):
        return isinstance(event, Launch) and backend.has(Role.LAUNCH)
    if shows_device(event.name, backend):
        return True
    return takes_device(event, backend) and any(isinstance(v, Text) and is_device(v, backend) for v in _given(event))


@lru_cache(maxsize=4096)
def shows_device(call: str, backend: Backend) -> bool:
    """Whether the name of a call tells that a backend is used: it asks for its device, or is of its kin."""
    if backend_of(call) not in (None, backend):
        return False
    return role_of(call) in ASKING or (is_of_xla(call) and package_of(call) is None)


def takes_device(call: LibraryCall, backend: Backend) -> bool:
    """Whether a call only names a device, or moves or makes something there that need not be imported."""
    return call.name in NAMING or (backend.named_by_device and call.name.rpartition(".")[2] in NAMED_BY)


def _given(call: LibraryCall) -> tuple[Value, ...]:
    return (*call.args, *call.kwargs.values())
