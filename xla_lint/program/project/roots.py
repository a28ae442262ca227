"""Where a project begins: at a marker, or else where Python itself would find the modules of a program."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from xla_lint.program.project.file_summary import imports_in
from xla_lint.program.project.search_path import added_folders
from xla_lint.program.project.source import SourceError, read

MARKERS = frozenset({"pyproject.toml", "setup.py", "setup.cfg", ".git", "requirements.txt"})
SOURCES = "src"
"""The folder that is on the search path by convention."""
HIGHEST = 2
"""How many folders above a module a script may lie that puts the module's folder on the search path."""


def root_of(folder: Path) -> Path:
    """The root of the project that a folder belongs to: the nearest one with a marker, else that of its program."""
    base = folder
    while "__init__.py" in names_in(base) and base.parent != base:
        base = base.parent
    marked = (folder for folder in (base, *base.parents) if not MARKERS.isdisjoint(names_in(folder)))
    return next(marked, None) or root_of_program(base)


def root_of_program(base: Path) -> Path:
    """The folder around a folder of modules, the scripts that import from it, and all that its own scripts import."""
    near = base.parents[:HIGHEST]
    for above in near:
        if any(base == source or base.is_relative_to(source / name) for source, name in sources_of_scripts(above)):
            return root_of_program(above)
    around = {Path(os.path.commonpath([base, source])) for source, _ in sources_of_scripts(base)}
    return next((folder for folder in reversed(near) if folder in around), base)


@lru_cache(maxsize=256)
def sources_of_scripts(folder: Path) -> frozenset[tuple[Path, str]]:
    """From where the scripts that lie in a folder import, on their search path: the folders and the first names."""
    found: set[tuple[Path, str]] = set()
    for script in folder.glob("*.py"):
        try:
            source = read(script)
        except SourceError:
            continue
        names = {name.dotted.partition(".")[0] for name in imports_in(source) if not name.level} - {""}
        for place in {folder, folder / SOURCES, *added_folders(source, script, folder)}:
            found.update((place, name) for name in names & _importable_from(place))
    return frozenset(found)


def forget() -> None:
    """Forget what lies in folders: it may have changed."""
    names_in.cache_clear()
    sources_of_scripts.cache_clear()


@lru_cache(maxsize=1024)
def names_in(folder: Path) -> dict[str, bool]:
    """What lies in a folder: each name, and whether it is a folder; nothing where the folder cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return {entry.name: entry.is_dir() for entry in entries}
    except OSError:
        return {}


def _importable_from(folder: Path) -> set[str]:
    """The names of the modules and packages of a folder on the search path."""
    names = names_in(folder)
    modules = {name.removesuffix(".py") for name, is_folder in names.items() if name.endswith(".py") and not is_folder}
    return modules | {name for name, is_folder in names.items() if is_folder}
