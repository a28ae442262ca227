"""The folders that scripts put on Python's search path, told from their source without running it."""

from __future__ import annotations

import ast
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from xla_lint.program.syntax.depth import room_to_recurse

if TYPE_CHECKING:
    from collections.abc import Iterable

SEARCH_PATH = "sys.path"
ADDING = {"append": 0, "insert": 1, "extend": 0}
"""The methods of a list that add to it, and which argument says what."""
UNCHANGED = frozenset({"Path", "PurePath", "str", "fspath", "expanduser", "as_posix", "PosixPath"})
ABSOLUTE = frozenset({"resolve", "absolute", "abspath", "realpath", "normpath"})
JOINING = frozenset({"join", "joinpath", "Path", "PurePath"})
RELATIVE = {"os.pardir": os.pardir, "os.curdir": os.curdir, "os.path.pardir": os.pardir}


def added_folders(source: bytes, path: Path, root: Path) -> frozenset[Path]:
    """The folders that a script at a path adds to `sys.path`, whether they exist or not.

    They are built from `__file__` or written out; a relative one may start at the script's folder or at the root.
    """
    if SEARCH_PATH.encode() not in source:
        return frozenset()
    try:
        with room_to_recurse(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
            added = _Additions(path)
            added.visit(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    starts = (path.parent, root)
    return frozenset(Path(os.path.normpath(start / folder)) for start in starts for folder in added.found)


class AddedFolders:
    """The folders that the scripts of a project put on the search path, each with where it counts.

    That is all modules below the folder that holds both it and the script.
    """

    def __init__(self, added: Iterable[tuple[Path, Path]]) -> None:
        """Take the scripts, each with a folder."""
        within = {(Path(os.path.commonpath([script.parent, folder])), folder) for script, folder in added}
        self._added = sorted(within, key=lambda pair: (-len(pair[0].parts), pair))
        self.names = [[str(within), str(folder)] for within, folder in self._added]
        """All of them, in a form that JSON keeps."""
        self._known: dict[Path, list[Path]] = {}

    def for_modules_in(self, beside: Path) -> list[Path]:
        """Those that count for the modules of a folder, the nearest script's first."""
        found = self._known.get(beside)
        if found is None:
            around = {beside, *beside.parents}
            found = self._known[beside] = [folder for within, folder in self._added if within in around]
        return found


class _Additions(ast.NodeVisitor):
    """Walks a script in the order of its lines, and keeps the paths that its names stand for."""

    def __init__(self, path: Path) -> None:
        self.found: set[str] = set()
        self._known = {"__file__": str(path)}

    def visit_Assign(self, node: ast.Assign) -> None:
        value = self._path(node.value)
        for target in node.targets:
            if isinstance(target, ast.Name):
                if value is None:
                    self._known.pop(target.id, None)
                else:
                    self._known[target.id] = value
            elif _dotted(target.value if isinstance(target, ast.Subscript) else target) == SEARCH_PATH:
                self._add(_items(node.value))
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if _dotted(node.target) == SEARCH_PATH:
            self._add(_items(node.value))

    def visit_For(self, node: ast.For) -> None:
        paths = list(filter(None, map(self._path, _items(node.iter))))
        if isinstance(node.target, ast.Name) and paths:
            calls = [inner for inner in ast.walk(node) if isinstance(inner, ast.Call)]
            for self._known[node.target.id] in paths:
                for call in calls:
                    self._look_at(call)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        self._look_at(node)
        self.generic_visit(node)

    def _look_at(self, node: ast.Call) -> None:
        function = node.func
        if not isinstance(function, ast.Attribute) or _dotted(function.value) != SEARCH_PATH:
            return
        position = ADDING.get(function.attr, len(node.args))
        for value in node.args[position : position + 1]:
            self._add(_items(value) if function.attr == "extend" else [value])

    def _add(self, values: Iterable[ast.expr]) -> None:
        self.found.update(path for value in values if (path := self._path(value)))

    def _path(self, node: ast.expr) -> str | None:
        """The path that an expression is, as text; None where it cannot be told."""
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else None
        if isinstance(node, ast.Name):
            return self._known.get(node.id)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.Add)):
            parts = self._paths([node.left, node.right])
            joint = os.sep if isinstance(node.op, ast.Div) else ""
            return None if parts is None else joint.join(parts)
        if isinstance(node, ast.JoinedStr):
            values = [part.value if isinstance(part, ast.FormattedValue) else part for part in node.values]
            parts = self._paths(values)
            return None if parts is None else "".join(parts)
        if isinstance(node, ast.Attribute):
            owner = self._path(node.value) if node.attr == "parent" else None
            return RELATIVE.get(_dotted(node)) if owner is None else os.path.dirname(owner)  # noqa: PTH120
        if isinstance(node, ast.Subscript):
            return self._ancestor(node)
        return self._called(node) if isinstance(node, ast.Call) else None

    def _paths(self, nodes: list[ast.expr]) -> list[str] | None:
        """The paths that all these expressions are; None where one of them cannot be told."""
        paths = [path for path in map(self._path, nodes) if path is not None]
        return paths if len(paths) == len(nodes) else None

    def _ancestor(self, node: ast.Subscript) -> str | None:
        """`path.parents[n]`."""
        above, place = node.value, node.slice
        if isinstance(above, ast.Attribute) and above.attr == "parents" and isinstance(place, ast.Constant):
            path = self._path(above.value)
            ancestors = Path(path).parents if path is not None else ()
            if isinstance(place.value, int) and 0 <= place.value < len(ancestors):
                return str(ancestors[place.value])
        return None

    def _called(self, node: ast.Call) -> str | None:
        """What a function or a method of `pathlib` or `os.path` makes of its paths."""
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else _dotted(function)
        receiver = [function.value] if isinstance(function, ast.Attribute) and self._path(function.value) else []
        paths = self._paths([*receiver, *node.args])
        if not paths:
            return None
        if name in JOINING:
            return os.path.join(*paths)  # noqa: PTH118
        if name == "dirname":
            return os.path.dirname(paths[0])  # noqa: PTH120
        if name in ABSOLUTE:
            return os.path.normpath(paths[0])
        return paths[0] if name in UNCHANGED else None


def _dotted(node: ast.expr) -> str:
    """A name, or a chain of attributes that begins with one; empty for any other expression."""
    if isinstance(node, ast.Attribute):
        owner = _dotted(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return node.id if isinstance(node, ast.Name) else ""


def _items(node: ast.expr) -> list[ast.expr]:
    """The items of a list or tuple display, or of those that are added up."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [*_items(node.left), *_items(node.right)]
    return node.elts if isinstance(node, (ast.List, ast.Tuple)) else []
