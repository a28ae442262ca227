"""The project around a module: where it begins, which modules it holds, and which of them import which.

What a module imports is told from its bytes alone, so that a tree of thousands of files is known before one of them
is parsed. Nothing is imported, and nothing outside the project's own folder is read.

The analysis sees the file system through the project alone, which notes what it was asked: `reads.py`.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter, defaultdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from xla_lint.program.project.cycles import beginnings
from xla_lint.program.project.dependency_log import DependencyLog
from xla_lint.program.project.file_summary import (
    MEANS_XLA,
    NEEDS_XLA,
    FileSummary,
    Stamp,
    digest_of,
    imports_in,
    is_script,
    launched_by,
    said_by,
)
from xla_lint.program.project.roots import SOURCES, root_of, sources_of_scripts
from xla_lint.program.project.scope import DECLARATIONS, Domain, Scope, may_be_in_scope, requirements
from xla_lint.program.project.search_path import added_folders
from xla_lint.program.project.source import SourceError, decode, parse, read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from astroid import nodes

    from xla_lint.program.project.dependency_log import Answer, Dependencies, Question

T = TypeVar("T")

SKIPPED = frozenset({"venv", "__pycache__", "node_modules", "build", "site-packages"})
MOST_FILES = 6000
"""A larger tree is taken for a collection of projects: only the files beside a module belong to its program."""
LARGEST_PACKAGE = 60
"""A package of more files than this is a library: its modules are looked at by themselves."""
MOST_TREES = 60
"""How many trees are kept."""
MOST_PROGRAMS = 12
"""How many programs' findings are kept."""
MOST_STEPS = 400
"""How many modules a search along imports visits at most."""
MOST_ENTRIES = 4
"""How many programs that import a module are analysed for it at most: the nearest ones."""
MOST_PROJECTS = 4
"""How many projects are kept."""
MODULES = (".py", ".pyi", ".ipynb")
"""How the names of files end that belong to a project."""


class Project:
    """A tree of files that belong together."""

    _known: ClassVar[dict[Path, Project]] = {}
    _roots: ClassVar[dict[str, Path]] = {}
    """The root of the project that the files of a folder belong to."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = root
        self.summaries: dict[Path, FileSummary] = {}
        """What is known of files by their bytes."""
        self._recorder = DependencyLog()
        self._programs: dict[Any, tuple[Any, Dependencies]] = {}
        self._trees: dict[Path, tuple[nodes.Module | None, str]] = {}

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
            root = cls._roots[folder] = root_of(Path(folder))
        found = cls._known.pop(root, None) or cls(root)
        cls._known[root] = found
        forget_oldest(cls._known, MOST_PROJECTS)
        return found

    @classmethod
    def forget(cls) -> None:
        """Forget every project: files may have changed."""
        cls._known.clear()
        cls._roots.clear()
        requirements.cache_clear()
        sources_of_scripts.cache_clear()

    # What was asked.

    def recording(self) -> AbstractContextManager[Dependencies]:
        """Give what is asked of the project meanwhile, and what it answered."""
        return self._recorder.recording()

    def still_answers(self, reads: Mapping[Question, Answer]) -> bool:
        """Whether the project gives the same answers again."""
        return all(self._answer(kind, Path(path)) == answer for (kind, path), answer in reads.items())

    def _answer(self, kind: str, path: Path) -> Answer:
        """The answer to a question that was noted, in a form that JSON keeps."""
        if kind == "bytes":
            return self.summary(path).digest if path in self.files else _digest(path)
        if kind == "exists":
            return path.exists()
        if kind == "entries":
            return [str(entry) for entry in self.entries(path)]
        if kind == "launched":
            return self.is_launched(path)
        if kind == "means":
            return self.means_xla(path)
        if kind == "added":
            return self._added_names
        return _names(self.speaks(path) if kind == "speaks" else self.domains_of(path))

    @cached_property
    def shape(self) -> str:
        """A digest of which files there are, and of what is declared of the dependencies."""
        total = hashlib.blake2b(digest_size=16)
        for path in sorted(self.files):
            total.update(os.fsencode(path) + b"\n")
        for path in [self.root / name for name in DECLARATIONS] if self.root else []:
            total.update(_digest(path).encode())
        return total.hexdigest()

    def locate(self, written: str, beside: str | Path | None) -> Path | None:
        """What a path in a module's source names: relative to the module's folder, else to the project's root.

        None where nothing of that name lies there.
        """
        folders = [Path(beside).absolute().parent] if beside is not None else []
        for folder in (*folders, *([self.root] if self.root is not None else [])):
            path = folder / written
            if self.exists(path):
                return path
        return None

    def exists(self, path: Path) -> bool:
        """Whether there is anything at a path."""
        found = path.exists()
        self._recorder.note("exists", path, found)
        return found

    def read(self, path: Path) -> bytes | None:
        """The bytes of a file, None where it cannot be read."""
        source = _bytes(path)
        self._recorder.note("bytes", path, "" if source is None else digest_of(source))
        return source

    # Files.

    @cached_property
    def files(self) -> frozenset[Path]:
        """The Python files of the project; none where there are too many to be one."""
        found: set[Path] = set()
        if self.root is None:
            return frozenset()
        for folder, folders, names in os.walk(self.root):
            folders[:] = filter(is_source_folder, folders)
            found.update(Path(folder, name) for name in names if name.endswith(".py"))
            if len(found) > MOST_FILES:
                return frozenset()
        return frozenset(found)

    def summary(self, path: Path) -> FileSummary:
        """What the bytes of a file of the project tell of it."""
        found = self.summaries.get(path)
        if found is None:
            stamp = Stamp.of(path)
            source = _bytes(path) or b""
            imports = [(name, self._find(name.dotted, name.level, path)) for name in set(imports_in(source))]
            missed = {name.dotted for name, target in imports if target is None and not name.level}
            found = self.summaries[path] = FileSummary(
                stamp,
                digest_of(source),
                said_by(source),
                is_script(source),
                NEEDS_XLA.search(source) is not None,
                MEANS_XLA.search(source) is not None,
                launched_by(source),
                added_folders(source, path, self.root or path.parent),
                modules_among(target for _, target in imports),
                modules_among(target for name, target in imports if name.needed),
                frozenset(filter(self._knows, missed)),
            )
        return found

    def tree(self, path: Path) -> nodes.Module | None:
        """The tree of a file of the project, None where it cannot be read or parsed: it is then reported by itself."""
        if path not in self._trees:
            source = _bytes(path) or b""
            try:
                tree = parse(decode(source), path)
            except SourceError:
                tree = None
            self._trees[path] = tree, digest_of(source)
            forget_oldest(self._trees, MOST_TREES)
        tree, digest = self._trees[path]
        self._recorder.note("bytes", path, digest)
        return tree

    def file_of(self, module: nodes.Module) -> Path | None:
        """Where a module lies among the files of the project, None where it is none of them."""
        path = path_of_module(module)
        return path if path is not None and path in self.files else None

    def importer_of(self, module: nodes.Module) -> Path | None:
        """Where a module's imports are looked up from: its file, or the notebook that it is."""
        if self.root is not None and module.file and module.file.endswith(".ipynb"):
            return Path(module.file).absolute()
        return self.file_of(module)

    def holds(self, module: nodes.Module) -> bool:
        """Whether a module's text is what its file in the project holds: an editor's may be newer."""
        path = self.file_of(module)
        if path is None:
            return False
        with module.stream() as stream:  # type: ignore[no-untyped-call]
            try:
                return decode(stream.read()) == decode(self.read(path) or b"")
            except SourceError:
                return False

    def kept(self, key: Any, compute: Callable[[], T]) -> T:
        """What a computation on the project gave, which is run at the first time; the oldest are forgotten."""
        if key not in self._programs:
            with self.recording() as reads:
                result = compute()
            self._programs[key] = result, reads
            forget_oldest(self._programs, MOST_PROGRAMS)
        else:
            result, reads = self._programs[key]
            self._recorder.note_all(reads)
        return result

    # Imports.

    def resolve(self, dotted: str, level: int, importer: Path) -> Path | None:
        """The file or package folder of the project that an import names, None where it is none of the project's."""
        found = self._find(dotted, level, importer)
        elsewhere = found is None and not level and self._knows(dotted)
        return self._find_added(dotted, importer) if elsewhere else found

    def _knows(self, dotted: str) -> bool:
        """False where surely nothing of the project has such a name."""
        return dotted.partition(".")[0] in self._stems

    def _find(self, dotted: str, level: int, importer: Path) -> Path | None:
        """What an import names where any module finds it: near the importer, or in a folder for sources."""
        if dotted and not self._knows(dotted):
            return None
        parts = dotted.split(".") if dotted else []
        folder = importer.parent
        for _ in range(level - 1):
            folder = folder.parent
        return self._first_below([folder] if level else self._search_path(importer), parts)

    def _find_added(self, dotted: str, importer: Path) -> Path | None:
        """What an import names in the folders that scripts put on the search path, the nearest script first.

        Such a folder counts for all modules below the folder that holds both it and the script.
        """
        self._recorder.note("added", importer.parent, self._added_names)
        folders = (folder for within, folder in self._added if within in importer.parents)
        return self._first_below(folders, dotted.split("."))

    @cached_property
    def _added(self) -> list[tuple[Path, Path]]:
        """The folders that scripts put on the search path: below which folder each counts, and the folder."""
        found = {
            (Path(os.path.commonpath([path.parent, folder])), folder)
            for path in self.files
            for folder in self.summary(path).adds
            if folder in self._folders
        }
        return sorted(found, key=lambda pair: (-len(pair[0].parts), pair))

    @cached_property
    def _added_names(self) -> list[list[str]]:
        return [[str(within), str(folder)] for within, folder in self._added]

    def _first_below(self, folders: Iterable[Path], parts: list[str]) -> Path | None:
        for folder in folders:
            found = self._below(folder, parts)
            if found is not None:
                return None if self.is_library(found) else found
        return None

    def beside(self, dotted: str, importer: Path) -> Path | None:
        """The module beside a script, or beside its package, that hides the installed library of that name."""
        parts = dotted.split(".")
        if parts[0] not in self._stems:
            return None
        folder = importer.parent
        while (folder / "__init__.py") in self.files:
            folder = folder.parent
        if (folder / parts[0]) in importer.parents:
            return None
        found = self._below(folder, parts[:1])
        if found is None or found.suffix != ".py" or self.is_library(found):
            return None
        return self._below(folder, parts)

    def is_library(self, path: Path) -> bool:
        """Whether a file lies in a package that is too large to be part of one program."""
        folder = path.parent if path.suffix == ".py" else path
        top = None
        while (folder / "__init__.py") in self.files:
            folder, top = folder.parent, folder
        return top is not None and self._sizes[top] > LARGEST_PACKAGE

    @cached_property
    def _sizes(self) -> Counter[Path]:
        """How many files lie in each folder, at any depth."""
        sizes: Counter[Path] = Counter()
        for path in self.files:
            for folder in path.parents:
                if folder == self.root:
                    break
                sizes[folder] += 1
        return sizes

    def _search_path(self, importer: Path) -> Iterator[Path]:
        folder = importer.parent
        yield folder
        while (folder / "__init__.py") in self.files:
            folder = folder.parent
            yield folder
        for place in importer.parents:
            if place == self.root:
                yield place
            if place / SOURCES in self._folders:
                yield place / SOURCES
            if place == self.root:
                break

    def _below(self, folder: Path, parts: list[str]) -> Path | None:
        place = folder.joinpath(*parts) if parts else folder
        for candidate in (place.with_name(place.name + ".py"), place / "__init__.py"):
            if candidate in self.files:
                return candidate
        return place if parts and place in self._folders else None

    @cached_property
    def _stems(self) -> frozenset[str]:
        """The names that a file or folder of the project can be imported by."""
        return frozenset(path.stem for path in self.files) | {folder.name for folder in self._folders}

    @cached_property
    def _folders(self) -> frozenset[Path]:
        folders = {path.parent for path in self.files}
        return frozenset(folders | {outer for folder in folders for outer in folder.parents if outer != self.root})

    def imports(self, path: Path) -> frozenset[Path]:
        """The files of the project that a file imports."""
        summary = self.summary(path)
        if not summary.elsewhere or not self._added:
            return summary.imports
        found = {self._find_added(dotted, path) for dotted in summary.elsewhere}
        return summary.imports | modules_among(found)

    @cached_property
    def _importers(self) -> dict[Path, set[Path]]:
        found: dict[Path, set[Path]] = defaultdict(set)
        for path in self.files:
            for imported in self.imports(path):
                if imported != path:
                    found[imported].add(path)
        return found

    def reach(self, start: Path) -> Iterator[Path]:
        """A file and what it imports, the nearest first."""
        return self._walk(start, self.imports)

    def _walk(self, start: Path, onward: Any) -> Iterator[Path]:
        seen, queue = {start}, [start]
        while queue and len(seen) < MOST_STEPS:
            path = queue.pop(0)
            yield path
            for following in sorted(onward(path) - seen):
                seen.add(following)
                queue.append(following)

    def speaks(self, path: Path) -> frozenset[Domain]:
        """What a file takes part in by its own statements, or by those of files that it imports."""
        found = self._speaks.get(path)
        if found is None:
            said = {name for part in self.reach(path) for name in self.summary(part).says}
            found = self._speaks[path] = frozenset(Domain[name] for name in said)
        self._recorder.note("speaks", path, _names(found))
        return found

    def means_xla(self, path: Path) -> bool:
        """Whether a file is of an XLA program by its own statements, or by those of files it cannot do without."""
        found = Domain.XLA.name in self.summary(path).says or any(
            self.summary(part).means_xla for part in self._walk(path, lambda part: self.summary(part).needs)
        )
        self._recorder.note("means", path, found)
        return found

    @cached_property
    def _speaks(self) -> dict[Path, frozenset[Domain]]:
        return {}

    def entries(self, path: Path) -> list[Path]:
        """The programs of the project that import a file: of XLA or of Accelerate, run as scripts or imported by none.

        The nearest ones; none where the file is imported by none.
        """
        known = self._entries.get(path)
        if known is None:
            known = self._entries[path] = self._find_entries(path)
        self._recorder.note("entries", path, [str(entry) for entry in known])
        return known

    @cached_property
    def _entries(self) -> dict[Path, list[Path]]:
        return {}

    def _find_entries(self, path: Path) -> list[Path]:
        found: list[Path] = []
        if not self._importers.get(path) or self.is_library(path):
            return found
        tests = is_test(path)
        for importer in self._walk(path, lambda p: self._importers.get(p, set())):
            if importer == path or (is_test(importer) and not tests):
                continue
            if self.is_script(importer) and self.speaks(importer):
                found.append(importer)
                if len(found) == MOST_ENTRIES:
                    break
        return found

    def is_launched(self, path: Path) -> bool:
        """Whether a SageMaker launch script of the project runs a file of that name on XLA."""
        found = path.name in self._launched
        self._recorder.note("launched", path, found)
        return found

    @cached_property
    def _launched(self) -> frozenset[str]:
        return frozenset(name for path in self.files for name in self.summary(path).launches)

    def is_script(self, path: Path) -> bool:
        """Whether a file is where a program begins: only files that it imports itself import it, or it says so."""
        return path not in self.files or path in self._beginnings or self.summary(path).script

    @cached_property
    def _beginnings(self) -> frozenset[Path]:
        return beginnings({path: sorted(self.imports(path) - {path}) for path in sorted(self.files)})

    def domains_of(self, path: Path) -> frozenset[Domain]:
        """What a file takes part in through others.

        A program of the project imports it, a launch script runs it, or it is a script that imports a module which
        needs torch_xla.
        """
        found = frozenset[Domain]().union(*map(self.speaks, self.entries(path)))
        needs_xla = any(self.summary(part).needs_xla for part in self.imports(path))
        if self.is_launched(path) or (self.is_script(path) and needs_xla):
            found |= {Domain.XLA}
        self._recorder.note("domains", path, _names(found))
        return found

    def may_concern(self, path: str | Path, source: bytes, scope: Scope) -> bool:
        """A cheap test: False only where no rule can have a say in a module, whatever imports it."""
        if may_be_in_scope(source, scope):
            return True
        file = Path(path).absolute()
        return file in self.files and bool(self.domains_of(file))


def modules_among(targets: Iterable[Path | None]) -> frozenset[Path]:
    """The files among what imports name."""
    return frozenset(target for target in targets if target is not None and target.suffix == ".py")


def forget_oldest(kept: dict[Any, Any], most: int) -> None:
    """Let a store hold so many entries at most."""
    while len(kept) > most:
        del kept[next(iter(kept))]


def _names(domains: frozenset[Domain]) -> list[str]:
    return sorted(domain.name for domain in domains)


def _bytes(path: Path) -> bytes | None:
    try:
        return read(path)
    except SourceError:
        return None


def _digest(path: Path) -> str:
    source = _bytes(path)
    return "" if source is None else digest_of(source)


def path_of_module(module: nodes.Module) -> Path | None:
    """Where a module's file lies, None where it has none."""
    return Path(module.file).absolute() if module.file and module.file.endswith(".py") else None


def is_source_folder(name: str) -> bool:
    """Whether a folder of that name may hold source of a project; hidden ones do not."""
    return not name.startswith(".") and name not in SKIPPED


def is_test(path: Path) -> bool:
    """Whether a file is a test of the project."""
    return path.name.startswith("test_") or "tests" in path.parts or "test" in path.parts
