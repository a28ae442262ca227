"""One module, interpreted: what happens, as a list of events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.events import Launch, LibraryCall, LoopRun
from xla_lint.program.domain.steps import decide
from xla_lint.program.domain.values import (
    Text,
)
from xla_lint.program.interpreter.api_uses import api_uses
from xla_lint.program.interpreter.entry_points import EntryPoints, Reached
from xla_lint.program.interpreter.environment import environment_sets
from xla_lint.program.interpreter.interpreter import Interpreter
from xla_lint.program.interpreter.statements import run_definitions
from xla_lint.program.library.devices import DEVICES, is_device
from xla_lint.program.machine.internal_errors import Contained
from xla_lint.program.project.project import Project
from xla_lint.program.project.scope import Domain, of_xla, runs_on_xla
from xla_lint.program.queries import Program
from xla_lint.program.syntax.reachable import ReachableCode

if TYPE_CHECKING:
    from pathlib import Path

    from xla_lint.program.domain.events import Event
    from xla_lint.program.machine.internal_errors import InternalError
    from xla_lint.program.project.project import Project
    from xla_lint.program.project.scope import Version


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
    machine = Interpreter(entry, project, target, assume_device=assumed)
    machine.globals.env["__name__"] = Text("__main__", fact=True)
    run_definitions(machine, entry.body)
    machine.without_caller = True
    EntryPoints(machine, reached or Reached()).run()
    loops = [LoopRun(loop.node, context, loop) for loop, context in machine.loop_table.contexts()]
    decide(machine.loop_table.outermost)
    modules = {place: frame.module for place, frame in machine.modules.items() if frame.module is not None}
    asks = any(map(asks_for_xla, machine.events))
    return Run(modules, [*machine.events, *loops], machine.visited, machine.ran, machine.errors, asks)


def analyse(
    module: nodes.Module, project: Project, target: Version, errors: list[InternalError], *, alone: bool
) -> list[Program]:
    """Interpret the programs that a module takes part in, and list what happens.

    These are the programs that import it, and the module itself: `alone` says whether it belongs to an XLA program
    by its own imports, so that what no program reaches in it is looked at as well. So is a module that no run reaches,
    unless all programs that import it turn out to run elsewhere than on XLA. `errors` takes the errors of our own that
    ended the analysis of one function.
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
                programs.append(Program(own, target, run.events, project, entry, through))
                errors += run.errors
                reached.add(run.visited, run.ran, own)
    if alone or (belongs and not programs):
        run = run_program(module, project, target, reached)
        errors += run.errors
        stated: list[Event] = []
        with Contained(errors, module):
            code = ReachableCode(module, target)
            stated += [*api_uses(code), *environment_sets(code)]
        events = [*run.events, *stated]
        whole = len(run.modules) <= 1
        programs.append(Program(module, target, events, project, alone=whole, importing=tuple(programs)))
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
