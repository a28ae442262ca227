"""Which file or folder of a project an import names, told from the names of its files alone."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from xla_lint.program.project.roots import SOURCES

if TYPE_CHECKING:
    from collections.abc import Iterable

LARGEST_PACKAGE = 60
"""Of a package of more files than this, not every module may be part of a program."""


class Lookup:
    """The names by which the files below a root can be imported."""

    def __init__(self, root: Path | None, files: frozenset[Path]) -> None:
        self.root = root
        self.files = files
        beside = {path.parent for path in files}
        self.folders = frozenset(beside | {outer for folder in beside for outer in folder.parents if outer != root})
        """The folders that hold files, at any depth."""
        self._paths = {str(path): path for path in (*self.folders, *files)}
        self._stems = frozenset(path.stem for path in files) | {folder.name for folder in self.folders}
        self._packages = frozenset(path.parent for path in files if path.name == "__init__.py")
        self._search_paths: dict[Path, tuple[Path, ...]] = {}
        self._large: dict[Path, str | None] = {}
        """The names of the large packages around folders."""

    def may_find(self, dotted: str) -> bool:
        """False where surely nothing of the project has such a name."""
        return dotted.partition(".")[0] in self._stems

    def find(self, dotted: str, level: int, importer: Path) -> Path | None:
        """What an import names where any module finds it: near the importer, or in a folder for sources.

        `level` is the number of dots before a relative name.
        """
        if dotted and not self.may_find(dotted):
            return None
        folder = importer.parent
        for _ in range(level - 1):
            folder = folder.parent
        return self.find_in([folder] if level else self._search_path(importer.parent), dotted)

    def find_in(self, folders: Iterable[Path], dotted: str) -> Path | None:
        """What a name stands for in the first of some folders that has it."""
        for folder in folders:
            found = self._below(folder, dotted)
            if found is not None:
                return found
        return None

    def beside(self, dotted: str, importer: Path) -> Path | None:
        """The module beside a script, or beside its package, that hides the installed library of that name."""
        first = dotted.partition(".")[0]
        if first not in self._stems:
            return None
        folder = self._above_packages(importer.parent)
        if (folder / first) in importer.parents:
            return None
        found = self._below(folder, first)
        if found is None or found.suffix != ".py" or self.large_package(found) is not None:
            return None
        return self._below(folder, dotted)

    def large_package(self, path: Path) -> str | None:
        """The name of the outermost package around a file or folder, where it has more than `LARGEST_PACKAGE` files."""
        folder = path.parent if path.suffix == ".py" else path
        if folder not in self._large:
            outer, top = folder, None
            while outer in self._packages:
                outer, top = outer.parent, outer
            self._large[folder] = top.name if top is not None and self._sizes[top] > LARGEST_PACKAGE else None
        return self._large[folder]

    def _above_packages(self, folder: Path) -> Path:
        while folder in self._packages:
            folder = folder.parent
        return folder

    @cached_property
    def _sizes(self) -> Counter[Path]:
        """How many files lie in each folder, at any depth."""
        sizes: Counter[Path] = Counter()
        for beside, number in Counter(path.parent for path in self.files).items():
            for folder in (beside, *beside.parents):
                if folder == self.root:
                    break
                sizes[folder] += number
        return sizes

    def _search_path(self, beside: Path) -> tuple[Path, ...]:
        """The folders in which a module of a folder finds others, the nearest first."""
        known = self._search_paths.get(beside)
        if known is not None:
            return known
        found = [beside]
        while found[-1] in self._packages:
            found.append(found[-1].parent)
        for place in (beside, *beside.parents):
            if place == self.root:
                found.append(place)
            if place / SOURCES in self.folders:
                found.append(place / SOURCES)
            if place == self.root:
                break
        return self._search_paths.setdefault(beside, tuple(found))

    def _below(self, folder: Path, dotted: str) -> Path | None:
        stem = f"{folder}/{dotted.replace('.', '/')}" if dotted else str(folder)
        found = self._paths.get(f"{stem}.py") or self._paths.get(f"{stem}/__init__.py")
        return found or (self._paths.get(stem) if dotted else None)
