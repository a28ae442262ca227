"""A script of the project that another one names by its path, read without importing it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_MODULES = 50
"""How many modules beside a script are followed."""


@dataclass(frozen=True, slots=True)
class Script:
    """A Python file and its tree."""

    path: Path
    source: bytes
    tree: ast.Module

    @classmethod
    def read(cls, path: Path) -> Script | None:
        """The script at a path, None where there is no Python source."""
        try:
            source = path.read_bytes()
            return cls(path, source, ast.parse(source))
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    def may_define(self, name: str) -> bool:
        """False where nothing in the script binds a name: no definition, assignment or import, not even of `*`."""
        return any(_binds(node, name) for node in ast.walk(self.tree))

    def packages(self) -> dict[str, Path]:
        """The top-level packages that a run of the script surely imports, with the first file that does.

        Modules beside the script are followed. An import that may fail (`try`) or is for type checkers does not count.
        """
        found: dict[str, Path] = {}
        pending, seen = [self], {self.path}
        while pending and len(seen) <= MOST_MODULES:
            script = pending.pop(0)
            for name in _imports(script.tree.body):
                beside = _beside(self.path.parent, name)
                if beside is None:
                    found.setdefault(name.partition(".")[0], script.path)
                elif beside not in seen:
                    seen.add(beside)
                    inner = Script.read(beside)
                    pending += [inner] if inner is not None else []
        return found


def _binds(node: ast.AST, name: str) -> bool:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return node.name == name
    if isinstance(node, ast.alias):
        return (node.asname or node.name) in (name, "*")
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)


def _imports(body: list[ast.stmt]) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
            yield statement.module
        elif isinstance(statement, ast.If) and "TYPE_CHECKING" not in ast.unparse(statement.test):
            yield from _imports(statement.body)


def _beside(folder: Path, name: str) -> Path | None:
    """The file of a module that lies in a folder, None where the folder has none of that name."""
    stem = folder.joinpath(*name.split("."))
    for path in (stem.with_suffix(".py"), stem / "__init__.py"):
        if path.is_file():
            return path
    top = folder / name.partition(".")[0]
    return top if top.is_dir() or top.with_suffix(".py").is_file() else None
