"""The project around a module: where it begins, and which modules it holds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

MARKERS = ("pyproject.toml", "setup.py", "setup.cfg", ".git", "requirements.txt")


@dataclass(frozen=True, slots=True)
class Project:
    """A tree of files that belong together.

    The analysis reads one module at a time so far; it asks the project for the root alone.
    """

    root: Path | None = None

    @classmethod
    def around(cls, path: str | Path | None) -> Project:
        """The project of a file: the nearest folder above it that holds a project marker."""
        if path is None:
            return cls()
        start = Path(path).absolute().parent
        for folder in (start, *start.parents):
            if any((folder / marker).exists() for marker in MARKERS):
                return cls(folder)
        return cls(start)

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
