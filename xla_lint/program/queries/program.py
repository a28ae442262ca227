"""A program as rules see it: its events, found by kind, name, loop and node, and what its files say of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from astroid import nodes

from xla_lint.program.backend.aim import Aim
from xla_lint.program.backend.backend import Backend, Charge, Mode, Role
from xla_lint.program.domain.events import Event, LibraryCall
from xla_lint.program.project.backends import always_shows
from xla_lint.program.project.declarations import requirements
from xla_lint.program.project.project import Project
from xla_lint.program.project.scope import pinned_version
from xla_lint.program.project.scripts import Script
from xla_lint.program.queries.source import needs_xla
from xla_lint.program.syntax.index import index_of

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

    from xla_lint.program.domain.loops import Loop
    from xla_lint.program.domain.values import Tensor
    from xla_lint.program.project.scope import Version

Kind = TypeVar("Kind", bound=Event)
Answer = TypeVar("Answer")
Test = Callable[[Event], bool]


@dataclass(eq=False)
class Program:
    """What the analysis of a program found: the events of all its modules.

    Each index over the events is built when it is first asked for, in one pass.
    """

    module: nodes.Module
    """The module that was run."""
    target: Version
    """The release of the backend that the program must run on."""
    events: list[Event] = field(default_factory=list)
    """What happens, in the order in which it was interpreted."""
    project: Project = field(default_factory=Project)
    aim: Aim = field(default_factory=Aim)
    """The backend for which it was run."""
    mode: Mode = Mode.LAZY
    """How its operations run outside compiled functions."""
    alone: bool = False
    """True where no other module took part."""
    importing: frozenset[str] = frozenset()
    """The library calls of the programs that import the module, where it is looked at by itself."""

    # Events.

    def of(self, kind: type[Kind]) -> list[Kind]:
        """The events of exactly one kind."""
        found: list[Kind] = self._by_kind.get(kind, [])  # type: ignore[assignment]
        return found

    def inside(self, loop: Loop) -> list[Event]:
        """The events that happen in a loop, at any depth."""
        return self._by_loop.get(loop, [])

    def any_inside(self, loop: Loop, test: Test) -> bool:
        """Whether an event that happens in a loop passes a test, which is run once over each loop."""
        known = self._tested.get((loop, test))
        if known is None:
            known = self._tested[loop, test] = any(map(test, self.inside(loop)))
        return known

    def at(self, node: nodes.NodeNG) -> list[Event]:
        """The events that happen at a node."""
        return self._by_node.get(node, [])

    def written_in(self, scope: nodes.NodeNG) -> list[Event]:
        """The events whose nodes stand in the source of a function or class, at any depth."""
        return self._by_scope.get(scope, [])

    def once(self, question: Callable[[Program], Answer]) -> Answer:
        """The answer to a question about the whole program, which is asked once."""
        if question not in self._answers:
            self._answers[question] = question(self)
        answer: Answer = self._answers[question]
        return answer

    # Library calls.

    def calls(self, *names: str) -> list[LibraryCall]:
        """The library calls of these dotted names, in the order in which they happen."""
        found = [numbered for name in names for numbered in self._by_name.get(name, ())]
        if len(names) > 1:
            found.sort(key=lambda numbered: numbered[0])
        return [call for _, call in found]

    def calls_where(self, test: Callable[[str], bool]) -> list[LibraryCall]:
        """The library calls whose dotted names pass a test, in the order in which they happen."""
        return self.calls(*filter(test, self._by_name))

    def maker_of(self, tensor: Tensor) -> nodes.NodeNG | None:
        """The first call of a library on the line that computed a tensor."""
        calls = (call for call in self.of(LibraryCall) if call.context.module is tensor.home)
        on_line = (call.node for call in calls if call.node.lineno == tensor.line)
        return min(on_line, key=lambda node: int(node.col_offset or 0), default=None)

    def has_call(self, *names: str) -> bool:
        """Whether one of these dotted names is called at all."""
        return any(name in self._by_name for name in names)

    # What the backend, the target release and the files say.

    @property
    def backend(self) -> Backend:
        """The backend that the program is for."""
        return self.aim.backend

    @property
    def barrier(self) -> str:
        """How the target release spells a barrier."""
        return self.spell(Role.BARRIER)

    @property
    def modes(self) -> frozenset[Mode]:
        """How its operations may run, in compiled functions and outside."""
        return frozenset({self.mode, Mode.COMPILED} if Mode.COMPILED in self.backend.charges else {self.mode})

    def mode_of(self, event: Event) -> Mode:
        """How the operations run at the place of an event."""
        return Mode.COMPILED if event.context.compiled is not None else self.mode

    def charge_of(self, event: Event) -> Charge:
        """What a read costs at the place of an event."""
        return self.backend.charges[self.mode_of(event)]

    def spell(self, role: Role) -> str:
        """How the program's backend spells something in the target release.

        Raises:
            KeyError: the backend has no such thing.
        """
        return self.backend.write(role, self.target)

    def needs_xla(self, node: nodes.NodeNG) -> bool:
        """Whether a node's module, or the one that was run, cannot be imported without a backend."""
        return any(map(needs_xla, self._heads(node)))

    def needs_backend(self, node: nodes.NodeNG) -> bool:
        """Whether a node's module, or the one that was run, names the backend under no test."""
        if self.aim.is_lazy:
            return self.needs_xla(node)
        return any(always_shows(self.backend, module) for module in self._heads(node))

    def is_script(self, node: nodes.NodeNG) -> bool:
        """Whether a node's module, or the one that was run, tests `__name__` to see whether it is run by itself."""
        statements = (statement for module in self._heads(node) for statement in module.body)
        return any(isinstance(each, nodes.If) and "__name__" in each.test.as_string() for each in statements)

    def chooses_backend(self, node: nodes.NodeNG) -> bool:
        """Whether a node's module, or the one that was run, asks a flag whether to run on XLA or on something else."""
        return any(index_of(module).flags for module in self._heads(node))

    def imported(self, module: nodes.Module) -> set[str]:
        """The dotted names that a module imports, at any depth of nesting, relative imports left out."""
        return index_of(module).imported

    def pinned(self, package: str) -> Version | None:
        """The release of a package that the project's declarations pin, if any."""
        return pinned_version(self.project.root, package)

    def requirements(self, package: str) -> tuple[SpecifierSet, ...]:
        """What the project's declarations ask of a package."""
        return requirements(self.project.root, package)

    def script(self, written: str, node: nodes.NodeNG) -> Script | None:
        """The script that a node's module names by a relative path; None where it cannot be found or parsed."""
        path = self.project.locate(written, node.root().file)
        return Script.read(path, self.project) if path is not None else None

    def beside(self, script: Script, name: str) -> bytes | None:
        """The bytes of a file in a script's folder, None where there is none."""
        return self.project.read(script.path.parent / name)

    @property
    def called(self) -> frozenset[str]:
        """The dotted names of the library calls."""
        return frozenset(self._by_name)

    def _heads(self, node: nodes.NodeNG) -> list[nodes.Module]:
        """The module in which a node stands, and the one that was run where it is another one."""
        module = node.root()
        return [module] if module is self.module else [module, self.module]

    # Indexes.

    @cached_property
    def _by_kind(self) -> dict[type[Event], list[Event]]:
        found: dict[type[Event], list[Event]] = defaultdict(list)
        for event in self.events:
            found[type(event)].append(event)
        return dict(found)

    @cached_property
    def _by_name(self) -> dict[str, list[tuple[int, LibraryCall]]]:
        """The library calls of each dotted name, numbered in the order in which all of them happen."""
        found: dict[str, list[tuple[int, LibraryCall]]] = defaultdict(list)
        for number, call in enumerate(self.of(LibraryCall)):
            found[call.name].append((number, call))
        return dict(found)

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

    @cached_property
    def _by_scope(self) -> dict[nodes.NodeNG, list[Event]]:
        found: dict[nodes.NodeNG, list[Event]] = defaultdict(list)
        for event in self.events:
            around = event.node.parent
            while around is not None:
                if isinstance(around, (nodes.FunctionDef, nodes.Lambda, nodes.ClassDef)):
                    found[around].append(event)
                around = around.parent
        return dict(found)

    @cached_property
    def _answers(self) -> dict[Callable[[Program], Any], Any]:
        return {}

    @cached_property
    def _tested(self) -> dict[tuple[Loop, Test], bool]:
        return {}
