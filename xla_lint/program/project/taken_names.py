"""Which names of a module others take from it: those are its own affair no longer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from xla_lint.program.project.file_summary import imports_in
from xla_lint.program.project.lines import LINE, lines_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from xla_lint.program.project.project import Project

EVERYTHING = re.compile(LINE + rb"[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]*\*")
MEMBER = re.compile(rb"\.[ \t]*([^\W\d]\w*)")
WORD = re.compile(rb"[^\W\d]\w*")


def taken_names(project: Project, path: Path) -> frozenset[str]:
    """The names that the modules which import a file may take from it; where one takes all, any that it speaks of.

    What is a member of anything there may be one of the file.
    """
    name = path.parent.name if path.name == "__init__.py" else path.stem
    return frozenset(taken for importer in project.importers_of(path) for taken in _taken(project.read(importer), name))


def _taken(source: bytes | None, module: str) -> Iterator[str]:
    """What a source may take from a module, by the last part of its name."""
    if source is None:
        return
    members = MEMBER
    if any(stem.decode().rpartition(".")[2] in (module, "") for stem in EVERYTHING.findall(lines_of(source))):
        members = WORD
    yield from (word.decode() for word in members.findall(source))
    for each in imports_in(source):
        owner, _, name = each.dotted.rpartition(".")
        if owner.rpartition(".")[2] == module or (each.level and not owner):
            yield name
