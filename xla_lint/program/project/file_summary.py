"""What the bytes of a file tell of it, without a tree: its imports, and the programs that it takes part in."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from xla_lint.program.project import overlay
from xla_lint.program.project.lines import LINE, lines_of
from xla_lint.program.project.paths import path_of
from xla_lint.program.project.scope import Domain
from xla_lint.program.project.statements import Statements

if TYPE_CHECKING:
    from collections.abc import Iterator

IMPORT = re.compile(
    LINE + rb"([ \t]*)(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#;]+)|import[ \t]+([^\n#;]+))"
)


class Stamp(NamedTuple):
    """What changes in the file system when a file is written: nanoseconds since the epoch, and bytes."""

    modified: int
    changed: int
    size: int

    @classmethod
    def of(cls, path: str | Path) -> Stamp | None:
        """The stamp of a file, None where there is none, or where it does not hold what it does on disk."""
        if overlay.held(path_of(os.fspath(path))) is not None:
            return None
        try:
            status = os.stat(path)  # noqa: PTH116 - asked for each file of a tree
        except (OSError, ValueError):
            return None
        return cls(status.st_mtime_ns, status.st_ctime_ns, status.st_size)


class FileSummary(NamedTuple):
    """What the project needs to know of a file before any is parsed."""

    stamp: Stamp | None
    """Taken before the file was read; None where nothing can be told from it."""
    digest: str
    statements: Statements
    """What its own statements say of the programs that it takes part in."""
    adds: frozenset[Path]
    """The folders that it puts on Python's search path."""
    imports: frozenset[Path]
    """The files of the project that it imports, as far as they lie where any module finds them."""
    needs: frozenset[Path]
    """Those among them without which it cannot be imported."""
    elsewhere: frozenset[str]
    """The other dotted names that it imports and that may be of the project."""

    def says_the_same(self, other: FileSummary) -> bool:
        """Whether two texts of a file tell the same of it."""
        return self[2:] == other[2:]

    def packed(self) -> list[Any]:
        """The summary, in a form that JSON keeps."""
        domains = sorted(domain.name for domain in self.statements.domains)
        stated = [domains, sorted(self.statements.launches), *self.statements[2:]]
        paths = (sorted(map(str, part)) for part in (self.adds, self.imports, self.needs))
        return [self.stamp, self.digest, stated, *paths, sorted(self.elsewhere)]

    @classmethod
    def unpacked(cls, packed: list[Any]) -> FileSummary:
        """The summary that was packed so."""
        stamp, digest, (domains, launches, *marks), *paths, elsewhere = packed
        stated = Statements(frozenset(Domain[name] for name in domains), frozenset(launches), *marks)
        adds, imports, needs = (frozenset(map(path_of, part)) for part in paths)
        return cls(Stamp(*stamp) if stamp else None, digest, stated, adds, imports, needs, frozenset(elsewhere))


def digest_of(source: bytes) -> str:
    """What tells the contents of files apart."""
    return hashlib.blake2b(source, digest_size=16).hexdigest()


class Import(NamedTuple):
    """A name that a source may import."""

    dotted: str
    level: int
    """The number of dots before a relative one."""
    needed: bool
    """Whether the source cannot do without: the import stands under no condition."""


def imports_in(source: bytes) -> Iterator[Import]:
    """The names that a source may import."""
    for match in IMPORT.finditer(lines_of(source)):
        indent, origin, names, plain = (group.decode("utf-8", "replace") if group else "" for group in match.groups())
        needed = not indent
        if plain:
            for item in plain.split(","):
                yield Import(item.split(" as ")[0].strip(), 0, needed)
        else:
            stem = origin.lstrip(".")
            level = len(origin) - len(stem)
            yield Import(stem, level, needed)
            for item in names.strip("()").split(","):
                name = item.split(" as ")[0].strip()
                if name.isidentifier():
                    yield Import(f"{stem}.{name}".lstrip("."), level, needed)
