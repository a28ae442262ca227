"""Which files a list of paths stands for."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from xla_lint.cli.results import Problem
from xla_lint.program.project.project import is_source_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


KINDS = (".py", ".ipynb")
"""How the names of files end that are looked for in folders."""


@dataclass(slots=True)
class Found:
    """What a list of paths stands for."""

    files: list[Path] = field(default_factory=list)
    """Each file once, by its own name rather than by that of a link, in the order of the paths; those of a folder by
    name."""
    problems: list[Problem] = field(default_factory=list)
    empty: list[Path] = field(default_factory=list)
    """The folders below which there is no Python file and no notebook."""
    excluded: dict[str, str] = field(default_factory=dict)
    """The files that are left out, and by what."""


def find(paths: Iterable[str], excludes: Callable[[str], str]) -> Found:
    """Walk the folders among `paths`; other paths stand for themselves, whether they exist or not.

    What `excludes` gives for a path leaves it out; empty leaves it in. Links to folders are not followed, so that a
    loop of links ends.
    """
    found = Found()
    names: dict[str, Path] = {}
    for path in map(Path, paths):
        files = _below(path, found.problems) if path.is_dir() else [path]
        if not files:
            found.empty.append(path)
        for file in files:
            by = excludes(str(file))
            if by:
                found.excluded[str(file)] = by
                continue
            real = os.path.realpath(file)
            if real not in names or (names[real].is_symlink() and not file.is_symlink()):
                names[real] = file
    found.files += names.values()
    return found


def _below(folder: Path, problems: list[Problem]) -> list[Path]:
    def unreadable(error: OSError) -> None:
        problems.append(Problem(str(error.filename), f"cannot be read: {(error.strerror or str(error)).lower()}"))

    files: list[Path] = []
    for root, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = sorted(filter(is_source_folder, folders))
        paths = (Path(root, name) for name in sorted(names) if name.endswith(KINDS) and not name.startswith("."))
        files.extend(path for path in paths if path.is_file())
    return files
