"""Imports, and the modules of the project that they bring in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.definitions import Imported, ModuleValue
from xla_lint.program.domain.state import State
from xla_lint.program.domain.values import UNKNOWN, Name, Text
from xla_lint.program.interpreter.definitions import suspend
from xla_lint.program.interpreter.names import known, note_unused
from xla_lint.program.interpreter.statements import run_definitions
from xla_lint.program.machine.limits import MOST_MODULES, Limit
from xla_lint.program.machine.meanings import attributes_of, statement
from xla_lint.program.syntax.names import canonical, is_foreign, is_standard

if TYPE_CHECKING:
    from pathlib import Path

    from xla_lint.program.domain.state import Frame
    from xla_lint.program.domain.values import Value
    from xla_lint.program.machine.machine import Machine


@statement(nodes.Import)
def import_(machine: Machine, node: nodes.Import) -> None:
    for name, alias in node.names:
        bound = name if alias else name.partition(".")[0]
        path = own_module(machine, bound, 0)
        machine.here.env[alias or bound] = Name(canonical(bound)) if path is None else Imported(path, "", bound)
    note_unused(machine, node)


@statement(nodes.ImportFrom)
def import_from(machine: Machine, node: nodes.ImportFrom) -> None:
    level = node.level or 0
    module = "." * level + (node.modname or "")
    path = own_module(machine, node.modname or "", level)
    for name, alias in node.names:
        if name == "*":
            import_all(machine, path)
            continue
        dotted = canonical(f"{module}.{name}")
        inside = own_module(machine, name, level) if path is None and not node.modname else None
        if inside is not None:
            machine.here.env[alias or name] = Imported(inside, "", dotted)
        else:
            machine.here.env[alias or name] = Name(dotted) if path is None else Imported(path, name, dotted)
    note_unused(machine, node)


def import_all(machine: Machine, path: Path | None) -> None:
    frame = load(machine, path) if path is not None else None
    if frame is not None:
        names = (name for name in frame.env if not name.startswith("_"))
        machine.here.env.update({name: known(machine, frame.env, name) for name in names})


def own_module(machine: Machine, dotted: str, level: int) -> Path | None:
    """The file or folder of the project that an import in the running module names."""
    importer = machine.project.importer_of(machine.module)
    if importer is None:
        return None
    if not level and is_foreign(dotted):
        path = None if is_standard(dotted) else machine.project.beside(dotted, importer)
    else:
        path = machine.project.resolve(dotted, level, importer)
    return None if path == importer else path


def load(machine: Machine, path: Path) -> Frame | None:
    """The variables of a module of the project, whose top level is run at the first time."""
    frame = machine.modules.get(path)
    if frame is None and path.suffix == ".py" and may_run_another(machine):
        tree = machine.project.tree(path)
        if tree is not None:
            frame = machine.module_frame(tree)
            frame.env["__name__"] = Text(tree.name, fact=True)
            run_module(machine, frame, tree)
    return frame


def may_run_another(machine: Machine) -> bool:
    """Whether one more module of the project may be run for this program."""
    if len(machine.modules) < MOST_MODULES:
        return True
    machine.limits.give_up(Limit.MODULES, machine.module)
    return False


def run_module(machine: Machine, frame: Frame, tree: nodes.Module) -> None:
    """Run a module's top level, outside everything that is around the import."""
    suspend(machine)
    outer, state = machine.at, State(frame.env, frozenset(), frozenset({1}))
    with machine.elsewhere(frame=frame, state=state, loops=(), calls=(), tests=(), active=()):
        run_definitions(machine, tree.body)
        frame.env = machine.at.state.env if machine.at.state is not None else frame.env
        outer.replicated = machine.at.replicated


def find_imported(machine: Machine, value: Imported) -> Value:
    """What an import of the project's own stands for."""
    frame = load(machine, value.path)
    module = ModuleValue(value.path, frame)
    if not value.member:
        return module
    found = module_member(machine, module, value.member)
    return Name(value.dotted) if found is UNKNOWN and frame is None else found


@attributes_of(ModuleValue)
def module_member(machine: Machine, module: ModuleValue, name: str, _: nodes.NodeNG | None = None) -> Value:
    """A variable of a module of the project, or a module inside a package."""
    if module.frame is not None and name in module.frame.env:
        return known(machine, module.frame.env, name)
    folder = module.path.parent if module.path.name == "__init__.py" else module.path
    path = machine.project.resolve(name, 1, folder / "__init__.py")
    return ModuleValue(path, load(machine, path)) if path is not None else UNKNOWN
