"""Where a project begins: at a marker, or else where Python itself would find the modules of a program."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from xla_lint.program.project import overlay
from xla_lint.program.project.file_summary import imports_in
from xla_lint.program.project.launches import launched_in
from xla_lint.program.project.search_path import added_folders
from xla_lint.program.project.source import SourceError, read

MARKERS = frozenset({"pyproject.toml", "setup.py", "setup.cfg", ".git", "requirements.txt"})
NEEDED_BY_JOBS = "requirements.txt"
"""The marker that lies in the folder of an entry point too: what a SageMaker job installs before it runs that."""
SOURCES = "src"
"""The folder that is on the search path by convention."""
HIGHEST = 2
"""How many folders above a module a script may lie that puts the module's folder on the search path."""


def root_of(folder: Path) -> Path:
    """The root of the project that a folder belongs to: the nearest one with a marker, else that of its program."""
    base = folder
    while "__init__.py" in names_in(base) and base.parent != base:
        base = base.parent
    marked = next((folder for folder in (base, *base.parents) if not MARKERS.isdisjoint(names_in(folder))), None)
    if marked is None:
        return root_of_program(base)
    weakly = MARKERS & names_in(marked).keys() == {NEEDED_BY_JOBS}
    launcher = (
        next((above for above in marked.parents[:HIGHEST] if launches_into(above, marked)), None) if weakly else None
    )
    return root_of(launcher) if launcher is not None else marked


def launches_into(folder: Path, inner: Path) -> bool:
    """Whether a script that lies in a folder has one run that lies in a folder below."""
    return any(inner.is_relative_to(place / name) for place, name in sources_of_scripts(folder).launched)


def root_of_program(base: Path) -> Path:
    """The folder around a folder of modules, the scripts that import from it, and all that its own scripts import."""
    near = base.parents[:HIGHEST]
    for above in near:
        if any(base == source or base.is_relative_to(source / name) for source, name in sources_of_scripts(above).all):
            return root_of_program(above)
    around = {Path(os.path.commonpath([base, source])) for source, _ in sources_of_scripts(base).all}
    return next((folder for folder in reversed(near) if folder in around), base)


class Sources(NamedTuple):
    """From where the scripts that lie in a folder take modules: folders, each with a first name in it."""

    imported: frozenset[tuple[Path, str]]
    """What they import, on their search path."""
    launched: frozenset[tuple[Path, str]]
    """What they have run on XLA in other folders."""

    @property
    def all(self) -> frozenset[tuple[Path, str]]:
        """Both."""
        return self.imported | self.launched


@lru_cache(maxsize=256)
def sources_of_scripts(folder: Path) -> Sources:
    """From where the scripts that lie in a folder take modules."""
    imported: set[tuple[Path, str]] = set()
    launched: set[tuple[Path, str]] = set()
    for script in (folder / name for name in names_in(folder) if name.endswith(".py")):
        try:
            source = read(script)
        except SourceError:
            continue
        names = {name.dotted.partition(".")[0] for name in imports_in(source) if not name.level} - {""}
        for place in {folder, folder / SOURCES, *added_folders(source, script, folder)}:
            imported.update((place, name) for name in names & _importable_from(place))
        for path in launched_in(source):
            place = Path(os.path.normpath(folder / path)).parent
            if place != folder and place.is_dir():
                launched.add((place.parent, place.name))
    return Sources(frozenset(imported), frozenset(launched))


def forget() -> None:
    """Forget what lies in folders: it may have changed."""
    names_in.cache_clear()
    sources_of_scripts.cache_clear()


@lru_cache(maxsize=1024)
def names_in(folder: Path) -> dict[str, bool]:
    """What lies in a folder: each name, and whether it is a folder; nothing where the folder cannot be read."""
    try:
        with os.scandir(folder) as entries:
            names = {entry.name: entry.is_dir() for entry in entries}
    except OSError:
        names = {}
    return {**names, **{path.name: False for path in overlay.held_below(folder) if path.parent == folder}}


def _importable_from(folder: Path) -> set[str]:
    """The names of the modules and packages of a folder on the search path."""
    names = names_in(folder)
    modules = {name.removesuffix(".py") for name, is_folder in names.items() if name.endswith(".py") and not is_folder}
    return modules | {name for name, is_folder in names.items() if is_folder}
