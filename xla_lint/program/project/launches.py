"""The scripts that a file has run on XLA: entry points of SageMaker's jobs, and what `xla_spawn.py` starts."""

from __future__ import annotations

import ast
import posixpath
from functools import lru_cache
from typing import TYPE_CHECKING

from xla_lint.program.backend.frameworks import (
    COMPILERS,
    ENTRY_POINTS,
    SOURCE_FOLDER,
    SPAWN_MARKS,
    SPAWNERS,
    TRAINIUM,
    XLA_LAUNCHER,
)
from xla_lint.program.project.marks import SAGEMAKER, SAGEMAKER_XLA
from xla_lint.program.project.requests import parsed
from xla_lint.program.syntax.constants import Constants, last_name

if TYPE_CHECKING:
    from collections.abc import Iterator


def launched_in(source: bytes) -> frozenset[str]:
    """The paths, or names, of the files that a script runs on XLA.

    They are entry points of jobs with the Training Compiler, the `pytorchxla` launcher or a Trainium instance, below
    their source folder where that is written out; or they stand behind `xla_spawn.py` on a command line.
    """
    starts_jobs = SAGEMAKER.encode() in source and any(mark.encode() in source for mark in SAGEMAKER_XLA)
    spawns = any(mark in source for mark in SPAWN_MARKS)
    return _launched_in(source) if starts_jobs or spawns else frozenset()


@lru_cache(maxsize=16)
def _launched_in(source: bytes) -> frozenset[str]:
    tree = parsed(source)
    if tree is None:
        return frozenset()
    code = Constants(tree)
    spawns = any(mark in source for mark in SPAWN_MARKS)
    found: set[str] = set()
    for node, guards in code.nodes:
        if isinstance(node, ast.Call) and SAGEMAKER.encode() in source:
            launched = list(_entry_points(node, code))
        elif isinstance(node, (ast.List, ast.Tuple, ast.Constant)) and spawns:
            launched = list(_spawned(node))
        else:
            continue
        found.update(launched if launched and code.may_run(guards) else ())
    return frozenset(posixpath.normpath(path) for path in found)


def _entry_points(call: ast.Call, code: Constants) -> Iterator[str]:
    """The entry points that a call names, if its job may run on XLA."""
    given: dict[str, list[ast.expr]] = {}
    for key, value in code.keywords(call):
        given.setdefault(key, []).append(value)
    entries = [value for key in ENTRY_POINTS for value in given.get(key, ())]
    if not entries or not _may_be_on_xla(given, code):
        return
    folders = {text for value in given.get(SOURCE_FOLDER, ()) for text in code.possible(value) if isinstance(text, str)}
    local = [folder for folder in folders if "://" not in folder]
    for value in entries:
        for path in code.possible(value):
            if isinstance(path, str) and path:
                yield from (posixpath.join(folder, path) for folder in local or [""])


def _may_be_on_xla(given: dict[str, list[ast.expr]], code: Constants) -> bool:
    """Whether a job asks for XLA; where its instances cannot be told, another part of the script does."""
    compiled = (source for value in given.get("compiler_config", ()) for source in code.sources(value))
    if any(isinstance(source, ast.Call) and last_name(source.func) in COMPILERS for source in compiled):
        return True
    keys = (key for value in given.get("distribution", ()) for key, _ in code.entries(value))
    if XLA_LAUNCHER in keys:
        return True
    kinds = {kind for value in given.get("instance_type", ()) for kind in code.possible(value) if isinstance(kind, str)}
    return any(kind.startswith(TRAINIUM) for kind in kinds) if kinds else True


def _spawned(node: ast.List | ast.Tuple | ast.Constant) -> Iterator[str]:
    """The scripts behind `xla_spawn.py` on a command line, in one text or in a list of its words."""
    parts = [node] if isinstance(node, ast.Constant) else node.elts
    texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    words = [word for text in texts for word in text.split()]
    start = next((n for n, word in enumerate(words) if posixpath.basename(word) in SPAWNERS), None)
    if start is not None and len(words) > 1:
        yield from (word for word in words[start + 1 :] if word.endswith(".py"))
