"""What each file of a project takes part in, and why: one record a file, and one place that answers."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from xla_lint.program.project.cycles import beginnings, gathered
from xla_lint.program.project.requests import is_test
from xla_lint.program.project.scope import Domain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from xla_lint.program.project.file_summary import FileSummary

OUTSIDE = ("/", "..")
"""Parts of a path that tell nothing of where a file lies in its project."""
MOST_STEPS = 400
"""How many modules a search along imports visits at most."""
MOST_PROGRAMS = 4
"""How many programs that import a module are analysed for it at most: the nearest ones."""


class Membership(NamedTuple):
    """What a file takes part in, and through what."""

    own: frozenset[Domain] = frozenset()
    """By its own statements."""
    through: frozenset[Domain] = frozenset()
    """Through other files: programs import it, a launch script runs it, or a script imports what needs torch_xla."""
    as_program: frozenset[Domain] = frozenset()
    """As a program that begins with it: by its own statements, and by those of all files that it imports."""
    programs: tuple[Path, ...] = ()
    """The programs that import it, the nearest first: of XLA or Accelerate, run as scripts or imported by none."""
    is_script: bool = True
    """Whether a program begins with it: only files that it imports itself import it, or it says so."""
    is_launched: bool = False
    """Whether a launch script of the project runs it on XLA, as far as it says where the file lies."""
    requires_xla: bool = False
    """Whether it cannot be imported without torch_xla or its kin."""
    may_be_xla: bool = False
    """Whether it is a program that is one of XLA if it asks for the device through what it imports."""
    is_other: bool = False
    """Whether it, or a file that it imports, is for another maker's device of the name of a native backend's."""
    commits_to_xla: bool = False
    """Whether a program that begins with it is surely one of XLA, by what it says or cannot do without."""

    @property
    def domains(self) -> frozenset[Domain]:
        """All that it takes part in; empty for a file that no rule is for."""
        return self.own | self.through

    def packed(self) -> list[Any]:
        """The record, in a form that JSON keeps."""
        domains = [sorted(domain.name for domain in part) for part in (self.own, self.through, self.as_program)]
        asked = [self.requires_xla, self.may_be_xla, self.is_other, self.commits_to_xla]
        marks = [self.is_script, self.is_launched, *asked]
        return [*domains, [str(program) for program in self.programs], *marks]


class Memberships:
    """The records of a project's files, each made at the first time that it is asked for."""

    def __init__(
        self,
        summaries: Mapping[Path, FileSummary],
        imports: Mapping[Path, frozenset[Path]],
    ) -> None:
        """Take what is known of each file, and which files of the project it imports as parts of its program."""
        self._summaries = summaries
        self._imports = imports
        self._known: dict[Path, Membership] = {}

    def of(self, path: Path) -> Membership:
        """The record of a file of the project."""
        found = self._known.get(path)
        if found is None:
            found = self._known[path] = self._record(path)
        return found

    def is_shared(self, path: Path) -> bool:
        """Whether a file is analysed for others too: programs import it, or it is a program that imports others."""
        return bool(self.of(path).programs) or any(path in self.of(part).programs for part in self._imports[path])

    def _record(self, path: Path) -> Membership:
        stated = self._summaries[path].statements
        programs = tuple(self._programs(path))
        is_script, is_launched = self._is_script(path), self._is_launched(path)
        through = frozenset[Domain]().union(*map(self._as_program.__getitem__, programs))
        needs_xla = any(self._summaries[part].statements.requires_xla for part in self._imports[path])
        if is_launched or (is_script and needs_xla):
            through |= {Domain.XLA}
        return Membership(
            stated.domains,
            through,
            self._as_program[path],
            programs,
            is_script,
            is_launched,
            stated.requires_xla,
            Domain.XLA in self._as_program[path] - stated.domains - through and self._may_be_run(path),
            any(self._summaries[part].statements.is_other for part in {path, *self._imports[path]}),
            Domain.XLA in stated.domains or Domain.XLA in self._committed[path],
        )

    def _programs(self, path: Path) -> Iterator[Path]:
        if not self._importers.get(path):
            return
        tests, found = is_test(path), 0
        for importer in self._nearest(path):
            if importer == path or (is_test(importer) and not tests):
                continue
            if self._is_script(importer) and self._as_program[importer]:
                yield importer
                found += 1
                if found == MOST_PROGRAMS:
                    return

    def _nearest(self, start: Path) -> Iterator[Path]:
        """A file and what imports it, the nearest first."""
        seen, queue = {start}, [start]
        for path in queue:
            if len(seen) >= MOST_STEPS:
                return
            yield path
            for importer in sorted(self._importers.get(path, set()) - seen):
                seen.add(importer)
                queue.append(importer)

    def _is_script(self, path: Path) -> bool:
        return path in self._beginnings or self._summaries[path].statements.names_script

    @cached_property
    def _importers(self) -> dict[Path, set[Path]]:
        found: dict[Path, set[Path]] = defaultdict(set)
        for path, imported in self._imports.items():
            for target in imported - {path}:
                found[target].add(path)
        return found

    @cached_property
    def _beginnings(self) -> frozenset[Path]:
        return beginnings(self._imports)

    def _may_be_run(self, path: Path) -> bool:
        """Whether a program begins with a file that is no test, nor a module of a package that nobody imports."""
        in_package = path.parent / "__init__.py" in self._summaries
        begins = path in self._beginnings and not in_package
        return (begins or self._summaries[path].statements.names_script) and not is_test(path)

    def _is_launched(self, path: Path) -> bool:
        return any(path.parts[-len(parts) :] == parts for parts in self._launched.get(path.name, ()))

    @cached_property
    def _launched(self) -> dict[str, set[tuple[str, ...]]]:
        """How the paths end of the files that launch scripts run, by their names."""
        found: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        for summary in self._summaries.values():
            for launched in summary.statements.launches:
                parts = tuple(part for part in PurePosixPath(launched).parts if part not in OUTSIDE)
                found[parts[-1] if parts else ""].add(parts)
        return dict(found)

    @cached_property
    def _as_program(self) -> dict[Path, frozenset[Domain]]:
        own = {path: self._summaries[path].statements.domains for path in self._imports}
        return gathered(self._imports, own)

    @cached_property
    def _committed(self) -> dict[Path, frozenset[Domain]]:
        """XLA, for the files that commit to it or cannot do without one that does."""
        xla, nothing = frozenset({Domain.XLA}), frozenset[Domain]()
        own = {path: xla if self._summaries[path].statements.commits_to_xla else nothing for path in self._imports}
        return gathered({path: self._summaries[path].needs & imports for path, imports in self._imports.items()}, own)
