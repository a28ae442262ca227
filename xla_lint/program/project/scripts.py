"""A script of the project that another one names by its path, read without importing it."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.project.project import Project

MOST_MODULES = 50
"""How many modules beside a script are followed."""


class Script(NamedTuple):
    """A Python file and its tree."""

    path: Path
    source: bytes
    tree: ast.Module
    project: Project

    @classmethod
    def read(cls, path: Path, project: Project) -> Script | None:
        """The script at a path, None where there is no Python source."""
        source = project.read(path)
        try:
            return None if source is None else cls(path, source, ast.parse(source), project)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
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
                beside = self._beside(name)
                if beside is None:
                    found.setdefault(name.partition(".")[0], script.path)
                elif beside not in seen:
                    seen.add(beside)
                    inner = Script.read(beside, self.project)
                    pending += [inner] if inner is not None else []
        return found

    def _beside(self, name: str) -> Path | None:
        """The file of a module that lies beside the script, None where there is none of that name."""
        parts = name.split(".")
        stem = "/".join(parts)
        names = (f"{stem}.py", f"{stem}/__init__.py", parts[0], f"{parts[0]}.py")
        return next((path for path in map(self.path.parent.joinpath, names) if self.project.exists(path)), None)


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
