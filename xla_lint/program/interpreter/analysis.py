"""One module, interpreted: what happens, as a list of events."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.events import Event, Launch, LibraryCall, LoopRun
from xla_lint.program.domain.values import (
    Text,
)
from xla_lint.program.interpreter.entry_points import EntryPoints, Reached
from xla_lint.program.interpreter.interpreter import Interpreter
from xla_lint.program.interpreter.statements import run_definitions
from xla_lint.program.library.registry import is_device
from xla_lint.program.library.xla import DEVICES
from xla_lint.program.machine.internal_errors import Contained
from xla_lint.program.project.project import Project
from xla_lint.program.project.scope import Domain, of_xla, runs_on_xla
from xla_lint.program.syntax.api_uses import api_uses
from xla_lint.program.syntax.environment import environment_sets
from xla_lint.program.syntax.reachable import ReachableCode

if TYPE_CHECKING:
    from pathlib import Path

    from xla_lint.program.domain.loops import Loop
    from xla_lint.program.machine.internal_errors import InternalError
    from xla_lint.program.project.scope import Version

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


def run_program(entry: nodes.Module, project: Project, target: Version, reached: Reached | None = None) -> Run:
    """Interpret a program from its entry module.

    Functions of the entry module that others have `reached` are run only if something calls them.
    """
    path = project.file_of(entry)
    assumed = runs_on_xla(entry) or (path is not None and project.is_launched(path))
    machine = Interpreter(entry, project, target, BUDGET, assume_device=assumed)
    machine.globals.env["__name__"] = Text("__main__", fact=True)
    run_definitions(machine, entry.body)
    machine.without_caller = True
    EntryPoints(machine, reached or Reached()).run()
    loops = [LoopRun(loop.node, context, loop) for loop, context in machine.loop_table.contexts()]
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
                reached.add(run.visited, run.ran, own)
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
