"""The project around a module: where it begins, which modules it holds, and which of them import which.

What a module imports is told from its bytes alone, so that a tree of thousands of files is known before one of them
is parsed. Nothing is imported, and nothing outside the project's own folder is read.
"""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from xla_lint.program.scope import Domain, Scope, may_be_in_scope
from xla_lint.program.source import SourceError, decode, parse, read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from astroid import nodes

MARKERS = ("pyproject.toml", "setup.py", "setup.cfg", ".git", "requirements.txt")
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
IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#;]+)|import[ \t]+([^\n#;]+))", re.MULTILINE
)
LAUNCHES_ON_XLA = (b"TrainingCompilerConfig(", b"pytorchxla", b'"ml.trn', b"'ml.trn")
"""What a launch script says of a training job that runs on XLA."""
SCRIPT_MARKS = (b"__main__", b"_mp_fn")
STATEMENT = rb"^[ \t]*(?:from|import)[ \t][^\n#]*\b"
SPEAKS = {
    Domain.XLA: re.compile(
        STATEMENT
        + rb"(?:torch_xla2?|torch_neuronx|neuronx_distributed(?:_training)?|torchacc|optimum\.(?:neuron|tpu))\b"
        rb"|^def _mp_fn\b|\b(?:accelerator|strategy)\s*=\s*[\"'](?:tpu|xla)",
        re.MULTILINE,
    ),
    Domain.ACCELERATE: re.compile(STATEMENT + rb"Accelerator\b", re.MULTILINE),
}
"""What the bytes of a file say that takes part in such a program by its own statements."""


class Project:
    """A tree of files that belong together."""

    _known: ClassVar[dict[Path, Project]] = {}

    def __init__(self, root: Path | None = None) -> None:
        self.root = root
        self.programs: dict[Any, Any] = {}
        """What the analysis of the programs of this project found, kept for the modules that they share."""
        self._sources: dict[Path, bytes] = {}
        self._trees: dict[Path, nodes.Module | None] = {}

    @classmethod
    def around(cls, path: str | Path | None) -> Project:
        """The project of a file: the nearest folder above it that holds a project marker, else its program's folder.

        The same object is given for all files of a project, until `forget`.
        """
        if path is None or not str(path).endswith((".py", ".pyi")):
            return cls()
        base = Path(path).absolute().parent
        while (base / "__init__.py").exists() and base.parent != base:
            base = base.parent
        root = next((f for f in (base, *base.parents) if any((f / marker).exists() for marker in MARKERS)), base)
        found = cls._known.get(root)
        if found is None:
            found = cls._known[root] = cls(root)
        return found

    @classmethod
    def forget(cls) -> None:
        """Forget every project: files may have changed."""
        cls._known.clear()

    def locate(self, written: str, beside: str | Path | None) -> Path | None:
        """What a path in a module's source names: relative to the module's folder, else to the project's root.

        None where nothing of that name lies there.
        """
        folders = [Path(beside).absolute().parent] if beside is not None else []
        for folder in (*folders, *([self.root] if self.root is not None else [])):
            path = folder / written
            if path.exists():
                return path
        return None

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

    def source(self, path: Path) -> bytes:
        """The bytes of a file, none where it cannot be read."""
        if path not in self._sources:
            try:
                self._sources[path] = read(path)
            except SourceError:
                self._sources[path] = b""
        return self._sources[path]

    def tree(self, path: Path) -> nodes.Module | None:
        """The tree of a file of the project, None where it cannot be read or parsed: it is then reported by itself."""
        if path not in self._trees:
            try:
                self._trees[path] = parse(decode(self.source(path)), path)
            except SourceError:
                self._trees[path] = None
            forget_oldest(self._trees, MOST_TREES)
        return self._trees[path]

    def file_of(self, module: nodes.Module) -> Path | None:
        """Where a module lies among the files of the project, None where it is none of them."""
        path = path_of_module(module)
        return path if path is not None and path in self.files else None

    def holds(self, module: nodes.Module) -> bool:
        """Whether a module's text is what its file in the project holds: an editor's may be newer."""
        path = self.file_of(module)
        if path is None:
            return False
        with module.stream() as stream:  # type: ignore[no-untyped-call]
            return bool(stream.read() == self.source(path))

    def keep_program(self, key: Any, run: Any) -> None:
        """Keep what a program's analysis found; the oldest are forgotten."""
        self.programs[key] = run
        forget_oldest(self.programs, MOST_PROGRAMS)

    # Imports.

    def resolve(self, dotted: str, level: int, importer: Path) -> Path | None:
        """The file or package folder of the project that an import names, None where it is none of the project's."""
        parts = dotted.split(".") if dotted else []
        if parts and parts[0] not in self._stems:
            return None
        folder = importer.parent
        for _ in range(level - 1):
            folder = folder.parent
        for start in [folder] if level else self._search_path(importer):
            found = self._below(start, parts)
            if found is not None:
                return None if self.is_library(found) else found
        return None

    def beside(self, dotted: str, importer: Path) -> Path | None:
        """The module beside a script, or beside its package, that hides the installed library of that name."""
        folder = importer.parent
        while (folder / "__init__.py") in self.files:
            folder = folder.parent
        parts = dotted.split(".")
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
        if self.root is not None:
            yield self.root
            yield self.root / "src"

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
        found = self._imports.get(path)
        if found is None:
            found = self._imports[path] = frozenset(self._named(path))
        return found

    @cached_property
    def _imports(self) -> dict[Path, frozenset[Path]]:
        return {}

    def _named(self, path: Path) -> Iterator[Path]:
        for match in IMPORT.finditer(self.source(path)):
            origin, names, plain = (group.decode("utf-8", "replace") if group else "" for group in match.groups())
            if plain:
                for item in plain.split(","):
                    yield from self._files_of(item.split(" as ")[0].strip(), 0, path)
            else:
                stem = origin.lstrip(".")
                level = len(origin) - len(stem)
                yield from self._files_of(stem, level, path)
                for item in names.strip("()").split(","):
                    name = item.split(" as ")[0].strip()
                    if name.isidentifier():
                        yield from self._files_of(f"{stem}.{name}".lstrip("."), level, path)

    def _files_of(self, dotted: str, level: int, path: Path) -> Iterator[Path]:
        found = self.resolve(dotted, level, path)
        if found is not None and found.suffix == ".py":
            yield found

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
            parts = [self.source(part) for part in self.reach(path)]
            found = frozenset(domain for domain, said in SPEAKS.items() if any(map(said.search, parts)))
            self._speaks[path] = found
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
        return known

    @cached_property
    def _entries(self) -> dict[Path, list[Path]]:
        return {}

    def _find_entries(self, path: Path) -> list[Path]:
        found: list[Path] = []
        if self.is_library(path) or not self._importers.get(path):
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
        """Whether a SageMaker launch script of the project runs a file on XLA.

        It is an entry point there, with the Training Compiler, the `pytorchxla` launcher or a Trainium instance.
        """
        named = re.compile(rb"""entry_point\s*=\s*["'][^"']*\b""" + re.escape(path.name.encode()) + rb"""["']""")
        return any(
            named.search(source) is not None and any(mark in source for mark in LAUNCHES_ON_XLA)
            for source in self._launchers
        )

    @cached_property
    def _launchers(self) -> list[bytes]:
        sources = map(self.source, self.files)
        return [source for source in sources if b"sagemaker" in source and b"entry_point" in source]

    def is_script(self, path: Path) -> bool:
        """Whether a file is where a program begins: nobody imports it, or it says so."""
        return not self._importers.get(path) or any(mark in self.source(path) for mark in SCRIPT_MARKS)

    def domains_of(self, path: Path) -> frozenset[Domain]:
        """What a file takes part in through others.

        A program of the project imports it, a launch script runs it, or it is a script that imports an XLA module.
        """
        found = frozenset[Domain]().union(*map(self.speaks, self.entries(path)))
        said = SPEAKS[Domain.XLA]
        if self.is_launched(path) or (
            self.is_script(path) and any(said.search(self.source(part)) for part in self.imports(path))
        ):
            found |= {Domain.XLA}
        return found

    def may_concern(self, path: str | Path, source: bytes, scope: Scope) -> bool:
        """A cheap test: False only where no rule can have a say in a module, whatever imports it."""
        if may_be_in_scope(source, scope):
            return True
        file = Path(path).absolute()
        return file in self.files and bool(self.domains_of(file))


def forget_oldest(kept: dict[Any, Any], most: int) -> None:
    """Let a store hold so many entries at most."""
    while len(kept) > most:
        del kept[next(iter(kept))]


def path_of_module(module: nodes.Module) -> Path | None:
    """Where a module's file lies, None where it has none."""
    return Path(module.file).absolute() if module.file and module.file.endswith(".py") else None


def is_source_folder(name: str) -> bool:
    """Whether a folder of that name may hold source of a project; hidden ones do not."""
    return not name.startswith(".") and name not in SKIPPED


def is_test(path: Path) -> bool:
    """Whether a file is a test of the project."""
    return path.name.startswith("test_") or "tests" in path.parts or "test" in path.parts
