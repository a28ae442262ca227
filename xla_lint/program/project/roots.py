"""Where a project begins: at a marker, or else where Python itself would find the modules of a program."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from xla_lint.program.project.file_summary import imports_in
from xla_lint.program.project.search_path import added_folders
from xla_lint.program.project.source import SourceError, read

MARKERS = ("pyproject.toml", "setup.py", "setup.cfg", ".git", "requirements.txt")
SOURCES = "src"
"""The folder that is on the search path by convention."""
HIGHEST = 2
"""How many folders above a module a script may lie that puts the module's folder on the search path."""


def root_of(folder: Path) -> Path:
    """The root of the project that a folder belongs to: the nearest one with a marker, else that of its program."""
    base = folder
    while (base / "__init__.py").exists() and base.parent != base:
        base = base.parent
    marked = (f for f in (base, *base.parents) if any((f / marker).exists() for marker in MARKERS))
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
            found.update((place, name) for name in names if _holds(place, name))
    return frozenset(found)


def _holds(place: Path, name: str) -> bool:
    return (place / name).is_dir() or (place / f"{name}.py").is_file()
