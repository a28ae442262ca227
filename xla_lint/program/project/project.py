"""The project around a module: which files it holds, what they take part in, and all that an analysis asks of files.

What a module imports is told from its bytes alone, so that a tree of thousands of files is known before one of them
is parsed. Nothing is imported, and nothing outside the project's own folder is read.

The analysis sees the file system through the project alone, which notes what it was asked: `dependency_log.py`.
"""

from __future__ import annotations

import hashlib
import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from xla_lint.program.backend import backend_of
from xla_lint.program.backend.frameworks import FRAMEWORKS
from xla_lint.program.project import declarations, overlay, roots
from xla_lint.program.project.cycles import reaches
from xla_lint.program.project.dependency_log import DependencyLog
from xla_lint.program.project.file_summary import FileSummary, Stamp, digest_of, imports_in
from xla_lint.program.project.kept import KeptResults
from xla_lint.program.project.lookup import Lookup
from xla_lint.program.project.membership import Membership, Memberships
from xla_lint.program.project.paths import path_of
from xla_lint.program.project.requests import is_test
from xla_lint.program.project.search_path import AddedFolders, added_folders
from xla_lint.program.project.source import SourceError, absolute, decode, parse, parse_rest, read
from xla_lint.program.project.statements import stated_in
from xla_lint.program.project.summaries import Summaries
from xla_lint.program.project.trees import Tree, Trees, forget_oldest, tree_of
from xla_lint.program.syntax.names import KNOWN_PACKAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from contextlib import AbstractContextManager

    from astroid import nodes

    from xla_lint.program.project.dependency_log import Answer, Dependencies, Question

T = TypeVar("T")

SKIPPED = frozenset({"venv", "__pycache__", "node_modules", "build", "site-packages"})
MOST_FILES = 6000
"""A larger tree is taken for a collection of projects: only the files beside a module belong to its program."""
MOST_REACHED = 10
"""A module of a large package that leads to more files than this is looked at by itself."""
MOST_PROJECTS = 4
"""How many projects are kept."""
MODULES = (".py", ".pyi", ".ipynb")
"""How the names of files end that belong to a project."""
BY_SUMMARIES = ("_reaches", "_added", "_memberships", "_imports", "_all_imports")
"""What a project derives from the summaries of its files, at the first time that it is asked for."""


class Project:
    """A tree of files that belong together."""

    _known: ClassVar[dict[Path, Project]] = {}
    _roots: ClassVar[dict[str, Path]] = {}
    """The root of the project that the files of a folder belong to."""
    outgrown: ClassVar[dict[Path, int]] = {}
    """The roots below which there are too many files for one project, and how many there may be."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = root
        self.summaries = Summaries()
        """What is known of files by their bytes."""
        self._log = DependencyLog()
        self._kept = KeptResults(self._log, self.still_answers)
        self._edition = 0
        """How often files were looked at again."""
        self._trees = Trees()
        self._parsed = Tree(None, "")
        """The last tree that was asked for by its bytes."""

    @classmethod
    def around(cls, path: str | Path | None) -> Project:
        """The project of a file: the nearest folder above it that holds a project marker, else its program's folder.

        The same object is given for all files of a project, until `forget` or until others took its place.
        """
        if path is None or not str(path).endswith(MODULES):
            return cls()
        folder = os.path.dirname(os.path.abspath(path))  # noqa: PTH100, PTH120 - asked for each file of a tree
        root = cls._roots.get(folder)
        if root is None:
            root = cls._roots[folder] = roots.root_of(Path(folder))
        found = cls._known.pop(root, None) or cls(root)
        cls._known[root] = found
        forget_oldest(cls._known, MOST_PROJECTS)
        return found

    @classmethod
    def forget(cls) -> None:
        """Forget every project: files may have changed."""
        cls._known.clear()
        cls.outgrown.clear()
        cls._forget_roots()

    @classmethod
    def renew(cls, path: Path) -> None:
        """Look at a file again: it has changed, has come or is gone. What does not depend on it stays."""
        for root, project in list(cls._known.items()):
            if root in path.parents and project._is_outdated_by(path):
                del cls._known[root]
        cls._forget_roots()

    @classmethod
    def _forget_roots(cls) -> None:
        """Forget what decides where projects begin, and what they declare."""
        cls._roots.clear()
        declarations.forget()
        roots.forget()

    def _is_outdated_by(self, path: Path) -> bool:
        """Whether a change makes it another project; else what depends on the bytes of the file is forgotten."""
        if path not in self.files:
            return declarations.is_declaration(path, self.root or path.parent) or (
                self._may_hold(path) and _is_there(path)
            )
        if not _is_there(path):
            return True
        self._edition += 1
        self._trees.forget(path)
        before = self.summaries.pop(path)
        if before is None or not self.summary(path).says_the_same(before):
            for name in BY_SUMMARIES:
                self.__dict__.pop(name, None)
        return False

    # What was asked.

    def recording(self) -> AbstractContextManager[Dependencies]:
        """Give what is asked of the project meanwhile, and what it answered."""
        return self._log.recording()

    def still_answers(self, reads: Mapping[Question, Answer]) -> bool:
        """Whether the project gives the same answers again."""
        return all(self._answer(kind, path_of(path)) == answer for (kind, path), answer in reads.items())

    def _answer(self, kind: str, path: Path) -> Answer:
        """The answer to a question that was noted, in a form that JSON keeps."""
        if kind == "bytes":
            return self.summary(path).digest if path in self.files else _digest(path)
        if kind == "exists":
            return _is_there(path)
        if kind == "added":
            return self._added.names
        if kind == "far":
            return path in self.files and self._leads_far(path)
        return self.membership(path).packed()

    def answers_for_others(self, question: Question) -> bool:
        """Whether the answer to a question rests on what is none of the project's files."""
        kind, path = question
        return kind == "exists" or (kind == "bytes" and path_of(path) not in self.files)

    @cached_property
    def shape(self) -> str:
        """A digest of which files there are, and of what is declared of the dependencies."""
        total = hashlib.blake2b(digest_size=16)
        for name in sorted(map(os.fsencode, self.files)):
            total.update(name + b"\n")
        for path in declarations.files_of(self.root) if self.root else ():
            total.update(_digest(path).encode())
        return total.hexdigest()

    def kept(self, key: Any, compute: Callable[[], T]) -> T:
        """What a computation on the project gave, which is run at the first time; the least used are forgotten."""
        return self._kept.of(key, self._edition, compute)

    # Files.

    @cached_property
    def files(self) -> frozenset[Path]:
        """The Python files of the project; none where there are too many to be one."""
        found: set[Path] = set()
        if self.root is None:
            return frozenset()
        for folder, folders, names in os.walk(self.root):
            folders[:] = filter(is_source_folder, folders)
            found.update(path_of(f"{folder}{os.sep}{name}") for name in names if name.endswith(".py"))
            if len(found) > MOST_FILES:
                self.outgrown[self.root] = MOST_FILES
                return frozenset()
        return frozenset(found.union(filter(self._may_hold, overlay.held_below(self.root))))

    def _may_hold(self, path: Path) -> bool:
        """Whether a file at a path below the root would be of the project."""
        folders = path.parent.relative_to(self.root or path.parent).parts
        return path.suffix == ".py" and all(map(is_source_folder, folders))

    def locate(self, written: str, beside: str | Path | None) -> Path | None:
        """What a path in a module's source names: relative to the module's folder, else to the project's root.

        None where nothing of that name lies there.
        """
        folders = [absolute(beside).parent] if beside is not None else []
        for folder in (*folders, *([self.root] if self.root is not None else [])):
            path = folder / written
            if self.exists(path):
                return path
        return None

    def exists(self, path: Path) -> bool:
        """Whether there is anything at a path."""
        found = _is_there(path)
        self._log.note("exists", path, found)
        return found

    def read(self, path: Path) -> bytes | None:
        """The bytes of a file, None where it cannot be read."""
        source = _bytes(path)
        self._log.note("bytes", path, "" if source is None else digest_of(source))
        return source

    def summary(self, path: Path) -> FileSummary:
        """What the bytes of a file of the project tell of it."""
        found = self.summaries.get(path)
        if found is None:
            stamp = Stamp.of(path)
            source = _bytes(path) or b""
            imports = [(name, self._lookup.find(name.dotted, name.level, path)) for name in set(imports_in(source))]
            missed = {name.dotted for name, target in imports if target is None and not name.level}
            found = self.summaries[path] = FileSummary(
                stamp,
                digest_of(source),
                stated_in(source, path),
                added_folders(source, path, self.root or path.parent),
                modules_among(target for _, target in imports),
                modules_among(target for name, target in imports if name.needed),
                frozenset(filter(self._lookup.may_find, missed)),
            )
        return found

    # Trees.

    def tree(self, path: Path) -> nodes.Module | None:
        """The tree of a file of the project, None where it cannot be read or parsed: it is then reported by itself."""
        found = self._trees.known(path)
        if found is None:
            found = tree_of(_bytes(path) or b"", path)
            self._trees.keep(path, found)
        self._log.note("bytes", path, found.digest)
        return found.module

    def parsed(self, path: str, source: bytes, *, half_typed: bool = False) -> nodes.Module:
        """The tree of these bytes of a file: the one that programs of the project go through, where they did.

        Of `half_typed` code, it is the tree of the statements that parse.

        Raises:
            HalfTypedError: some statements do not parse, and that was not asked for or does not help.
            SourceError: the bytes are no Python source.
        """
        file = absolute(path)
        digest = digest_of(source)
        known = self._trees.known(file)
        if known is not None and known.digest == digest and known.module is not None and known.whole != half_typed:
            return known.module
        text, place = decode(source), file if file in self.files else path
        rest = parse_rest(text, place) if half_typed else None
        tree = rest or parse(text, place)
        self._parsed = Tree(tree, digest, whole=rest is None)
        return tree

    def adopts(self, module: nodes.Module) -> bool:
        """Whether a module's text is what its file in the project holds: an editor's may be newer.

        Its tree then stands for the file in other programs, unless these have one.
        """
        path = self.file_of(module)
        if path is None:
            return False
        known = self._trees.known(path)
        if known is not None and known.module is module:
            self._log.note("bytes", path, known.digest)
            return True
        digest = self.summary(path).digest
        self._log.note("bytes", path, digest)
        parsed = self._parsed if self._parsed.module is module else None
        same = parsed.digest == digest if parsed is not None else _says_the_same(module, _bytes(path) or b"")
        if same and known is None and self._memberships.is_shared(path):
            self._trees.keep(path, parsed or Tree(module, digest))
        return same

    def keeps(self, path: Path) -> bool:
        """Whether the tree of a file is at hand."""
        return self._trees.known(path) is not None

    def shares(self, module: nodes.Module) -> bool:
        """Whether a tree stands for its file in other programs too."""
        path = self.file_of(module)
        known = self._trees.known(path) if path is not None else None
        return known is not None and known.module is module

    def name_of(self, path: Path) -> str:
        """What messages call a file: where it lies below the root, so that no other file is called so."""
        inside = self.root is not None and path.is_relative_to(self.root)
        return path.relative_to(self.root).as_posix() if inside and self.root is not None else path.name

    def file_of(self, module: nodes.Module) -> Path | None:
        """Where a module lies among the files of the project, None where it is none of them."""
        path = path_of_module(module)
        return path if path is not None and path in self.files else None

    def importer_of(self, module: nodes.Module) -> Path | None:
        """Where a module's imports are looked up from: its file, or the notebook that it is."""
        if self.root is not None and module.file and module.file.endswith(".ipynb"):
            return absolute(module.file)
        return self.file_of(module)

    # Imports.

    @cached_property
    def _lookup(self) -> Lookup:
        return Lookup(self.root, self.files)

    def resolve(self, dotted: str, level: int, importer: Path) -> Path | None:
        """The file or package folder of the project that an import names, None where it is none of the project's."""
        found = self._lookup.find(dotted, level, importer)
        if found is None and not level and self._lookup.may_find(dotted):
            found = self._find_added(dotted, importer)
        return None if found is None or self._is_apart(found, importer) else found

    def _is_apart(self, path: Path, importer: Path) -> bool:
        """Whether a module is no part of a program that imports it: it leads to too many files of a large package.

        The modules of a library's own checkout are so as well, and those of any large package for its tests: programs
        import them as those of a library.
        """
        package = self._lookup.large_package(path)
        if package is None or path.suffix != ".py":
            return False
        return is_library(package) or is_test(importer) or self._leads_far(path)

    def _leads_far(self, path: Path) -> bool:
        """Whether a module leads to more than `MOST_REACHED` files by its imports."""
        far = self._reaches[path] > MOST_REACHED
        self._log.note("far", path, far)
        return far

    @cached_property
    def _reaches(self) -> dict[Path, int]:
        """To how many files each file leads by its imports."""
        return reaches(self._all_imports)

    def importers_of(self, path: Path) -> list[Path]:
        """The files of the project that import one, wherever they find it."""
        return [other for other in sorted(self.files) if other != path and path in self._all_imports[other]]

    def beside(self, dotted: str, importer: Path) -> Path | None:
        """The module beside a script, or beside its package, that hides the installed library of that name."""
        return self._lookup.beside(dotted, importer)

    def _find_added(self, dotted: str, importer: Path) -> Path | None:
        """What an import names in the folders that scripts put on the search path."""
        self._log.note("added", importer.parent, self._added.names)
        return self._lookup.find_in(self._added.for_modules_in(importer.parent), dotted)

    @cached_property
    def _added(self) -> AddedFolders:
        """The folders of the project that its scripts put on the search path."""
        found = ((path, folder) for path in self.files for folder in self.summary(path).adds)
        return AddedFolders((path, folder) for path, folder in found if folder in self._lookup.folders)

    # What files take part in.

    def membership(self, path: Path) -> Membership:
        """What a file takes part in, and why; that of a script of its own for one that is not of the project."""
        found = self._memberships.of(path) if path in self.files else Membership()
        if self._log.is_recording:
            self._log.note("membership", path, found.packed())
        return found

    @cached_property
    def _memberships(self) -> Memberships:
        return Memberships({path: self.summary(path) for path in self.files}, self._imports)

    @cached_property
    def _imports(self) -> dict[Path, frozenset[Path]]:
        """The files of the project that each file imports."""
        return {path: self._imports_of(path) for path in sorted(self.files)}

    def _imports_of(self, path: Path) -> frozenset[Path]:
        return frozenset(target for target in self._all_imports[path] if not self._is_apart(target, path))

    @cached_property
    def _all_imports(self) -> dict[Path, frozenset[Path]]:
        """The same with those that are no part of its program."""
        return {path: self._all_imports_of(path) for path in self.files}

    def _all_imports_of(self, path: Path) -> frozenset[Path]:
        summary = self.summary(path)
        if not summary.elsewhere or not self._added.names:
            return summary.imports
        return summary.imports | modules_among(self._find_added(dotted, path) for dotted in summary.elsewhere)


def is_library(package: str) -> bool:
    """Whether a package is a known library, also where its own checkout is looked at."""
    return package in KNOWN_PACKAGES or package in FRAMEWORKS or backend_of(package) is not None


def modules_among(targets: Iterable[Path | None]) -> frozenset[Path]:
    """The files among what imports name."""
    return frozenset(target for target in targets if target is not None and target.suffix == ".py")


def _says_the_same(module: nodes.Module, source: bytes) -> bool:
    with module.stream() as stream:  # type: ignore[no-untyped-call]
        text: bytes = stream.read()
    try:
        return text == source or decode(text) == decode(source)
    except SourceError:
        return False


def _bytes(path: Path) -> bytes | None:
    try:
        return read(path)
    except SourceError:
        return None


def _is_there(path: Path) -> bool:
    return overlay.held(path) is not None or path.exists()


def _digest(path: Path) -> str:
    source = _bytes(path)
    return "" if source is None else digest_of(source)


def path_of_module(module: nodes.Module) -> Path | None:
    """Where a module's file lies, None where it has none."""
    return absolute(module.file) if module.file and module.file.endswith(".py") else None


def is_source_folder(name: str) -> bool:
    """Whether a folder of that name may hold source of a project; hidden ones do not."""
    return not name.startswith(".") and name not in SKIPPED
