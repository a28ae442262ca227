"""Files and functions stay small enough to be read at a glance; those that do not, say why."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "xla_lint"
MOST_LINES = 450
"""Lines of a file."""
MOST_FUNCTION_LINES = 60
MOST_BRANCHES = 15
"""Tests, loops, cases and handlers of a function."""
BRANCHES = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.match_case)
LONG_FILES: dict[str, str] = {}
"""Files that are longer, and why. An entry that is no longer needed must go."""
LONG_FUNCTIONS: dict[str, str] = {}
"""Functions that are longer, or branch more, and why. The same holds for these."""


def sources() -> dict[str, str]:
    """The text of each module, by its path below the package; fixtures are not the package's own."""
    paths = (path for path in PACKAGE.rglob("*.py") if "_fixtures" not in path.parts)
    return {path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def large_functions(text: str) -> set[str]:
    """The names of a module's functions that are too long, or branch too much."""
    functions = [
        node for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    return {
        function.name
        for function in functions
        if (function.end_lineno or 0) - function.lineno >= MOST_FUNCTION_LINES
        or sum(isinstance(node, BRANCHES) for node in ast.walk(function)) > MOST_BRANCHES
    }


def test_files_are_short() -> None:
    assert {name for name, text in sources().items() if text.count("\n") > MOST_LINES} == LONG_FILES.keys()


def test_functions_are_short() -> None:
    large = {f"{name} {function}" for name, text in sources().items() for function in large_functions(text)}
    assert large == LONG_FUNCTIONS.keys()


def test_a_large_function_is_seen() -> None:
    long = "def long():\n" + "    pass\n" * MOST_FUNCTION_LINES
    branching = "def branching(x):\n" + "    if x: pass\n" * (MOST_BRANCHES + 1)
    short = "def short(x):\n" + "    if x: pass\n" * MOST_BRANCHES
    assert large_functions(long + branching + short) == {"long", "branching"}
