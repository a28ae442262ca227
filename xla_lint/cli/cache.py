"""Results of earlier runs, used again where nothing that they depend on has changed.

A result depends on the bytes and the place of its file, on the user's choice, on xla-lint, Python and astroid, on
which files the project holds and what it declares, and on every answer that the project gave to the analysis: the
bytes of the files that were read, and what files take part in. All of these are compared. What could not be checked
is not kept, so it is tried again.

Contents are compared, not times: a cache outlives a fresh checkout at the same place, and the same xla-lint installed
anew. Times only tell what need not be read again.

There is one file for each project and choice. It is replaced as a whole, so that whoever reads it meanwhile sees the
old one or the new one; it begins with a digest of itself, so that a damaged one counts as none. A cache that cannot be
read or written costs time and nothing else.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import astroid
import pylint

from xla_lint import __version__
from xla_lint.cli.results import Basis, Located, Outcome, Problem, Reason
from xla_lint.fixes.packing import packed, unpacked
from xla_lint.places import Extent
from xla_lint.program.project.file_summary import FileSummary, Stamp, digest_of
from xla_lint.program.project.paths import path_of
from xla_lint.program.project.source import SourceError, absolute, module_name, read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.engine import Settings
    from xla_lint.program.project.project import Project

PACKAGE = Path(__file__).parent.parent
FIXTURES = "_fixtures"
"""The folder of examples in an installed package, which analyse nothing."""
UNMISTAKABLE = 2 * 10**9
"""Nanoseconds after which a file that is written again surely gets another stamp."""


class Cache:
    """The stores of one run."""

    def __init__(self, folder: Path | None) -> None:
        """Use a folder, or with None keep nothing."""
        self._folder = folder
        self._stores: dict[tuple[Path, Settings], Store] = {}

    def meet(self, project: Project, settings: Settings) -> None:
        """Tell a project what is known of its files."""
        self._store_of(project, settings)

    def recall(self, project: Project, settings: Settings, path: str, source: bytes) -> Outcome | None:
        """What is known of a file with these bytes, None where it must be checked."""
        store = self._store_of(project, settings)
        return store.recall(project, path, source) if store is not None else None

    def take(self, project: Project, settings: Settings, outcome: Outcome) -> None:
        """Take the basis of an outcome away, and keep both where nothing went wrong."""
        basis, outcome.basis = outcome.basis, None
        store = self._store_of(project, settings)
        if store is not None and basis is not None and not outcome.problems:
            store.keep(outcome, basis)

    def save(self) -> None:
        """Write what has changed."""
        for store in self._stores.values():
            store.save()

    def _store_of(self, project: Project, settings: Settings) -> Store | None:
        """The store of a project, which has told it what is known of its files; None where nothing is kept."""
        if self._folder is None or project.root is None:
            return None
        store = self._stores.get((project.root, settings))
        if store is None:
            name = digest_of(f"{project.root}\n{settings!r}".encode())
            store = self._stores[project.root, settings] = Store(self._folder / f"{name}.json", project)
        else:
            store.meet(project)
        return store


class Store:
    """What is kept of one project."""

    def __init__(self, path: Path, project: Project) -> None:
        self._path = path
        self._fresh: dict[str, Any] = {}
        """What this run found, by the absolute path of the file."""
        self._held = self._load()
        self._summaries: dict[Path, FileSummary] = {}
        self._known = 0
        """How many summaries are in the file with the stamps that their files have."""
        self.meet(project)

    def meet(self, project: Project) -> None:
        """Tell a project what is known of its files, those left out that have changed since."""
        if self._summaries is project.summaries:
            return
        if self._held.get("shape") != project.shape:
            self._held = {"results": {}, "summaries": {}}
        if self._summaries:
            project.summaries.update(self._summaries)
        else:
            for path, summary, stamped in _unchanged(self._held["summaries"]):
                project.summaries[path] = summary
                self._known += stamped
        self._summaries, self._shape = project.summaries, project.shape

    def recall(self, project: Project, path: str, source: bytes) -> Outcome | None:
        """What is known of a file with these bytes, None where it must be checked."""
        entry = self._held["results"].get(str(absolute(path)))
        if entry is None or entry["key"] != _key(path, source):
            return None
        reads = {(kind, place): answer for kind, place, answer in entry["reads"]}
        return _unpacked(path, entry["outcome"]) if project.still_answers(reads) else None

    def keep(self, outcome: Outcome, basis: Basis) -> None:
        """Keep what the check of a file gave, and what it was made from."""
        self._fresh[str(absolute(outcome.path))] = {
            "key": _key(outcome.path, basis.source),
            "reads": [[*question, answer] for question, answer in basis.dependencies.items()],
            "outcome": _packed(outcome),
        }

    def save(self) -> None:
        """Write the store, where this run has learned something."""
        if not self._fresh and len(self._summaries) == self._known:
            return
        others = self._load()
        results = others["results"] if others.get("shape") == self._shape else {}
        results = {path: entry for path, entry in results.items() if Path(path).exists()}
        summaries = {os.fspath(path): _settled(summary).packed() for path, summary in self._summaries.items()}
        held = {"shape": self._shape, "results": {**results, **self._fresh}, "summaries": summaries}
        body = json.dumps(held).encode()
        with contextlib.suppress(OSError):
            _replace(self._path, f"{_fingerprint(self._path.parent)} {digest_of(body)}\n".encode() + body)

    def _load(self) -> dict[str, Any]:
        """What the file holds, nothing where it is damaged or another xla-lint wrote it."""
        try:
            head, _, body = self._path.read_bytes().partition(b"\n")
        except OSError:
            head, body = b"", b""
        if head != f"{_fingerprint(self._path.parent)} {digest_of(body)}".encode():
            return {"results": {}, "summaries": {}}
        held: dict[str, Any] = json.loads(body)
        return held


def default_folder() -> Path:
    """Where caches of the user lie on this platform."""
    import platformdirs  # noqa: PLC0415 - not every run keeps results

    return platformdirs.user_cache_path("xla-lint", appauthor=False)


@functools.cache
def _fingerprint(folder: Path) -> str:
    """A digest of what analyses: xla-lint with the contents of its files, Python, and the libraries that read source.

    It is kept in the folder, and made anew where a file of xla-lint has another stamp.
    """
    files = sorted(
        path for path in PACKAGE.rglob("*") if path.suffix in (".py", ".json") and FIXTURES not in path.parts
    )
    versions = repr((__version__, sys.version, astroid.__version__, pylint.__version__))
    stamps = digest_of(repr((versions, [(str(path), Stamp.of(path)) for path in files])).encode())
    kept = folder / f"xla-lint-{stamps}"
    with contextlib.suppress(OSError):
        return kept.read_text(encoding="ascii")
    total = hashlib.blake2b(versions.encode(), digest_size=16)
    for path in files:
        total.update(f"{path.relative_to(PACKAGE)} {digest_of(path.read_bytes())}".encode())
    with contextlib.suppress(OSError):
        _replace(kept, total.hexdigest().encode())
    return total.hexdigest()


def _key(path: str, source: bytes) -> str:
    return digest_of(f"{module_name(path)}\n".encode(errors="surrogateescape") + source)


def _settled(summary: FileSummary) -> FileSummary:
    """A summary, without its stamp where the file may be written again and get the same."""
    stamp = summary.stamp
    if stamp is not None and time.time_ns() - max(stamp.modified, stamp.changed) > UNMISTAKABLE:
        return summary
    return summary._replace(stamp=None)


def _unchanged(summaries: dict[str, list[Any]]) -> Iterator[tuple[Path, FileSummary, bool]]:
    """The summaries that still hold, by their contents, and whether the stamps of their files tell that too."""
    for name, kept in summaries.items():
        path, summary = path_of(name), FileSummary.unpacked(kept)
        stamp = Stamp.of(path)
        if stamp is not None and stamp == summary.stamp:
            yield path, summary, True
            continue
        with contextlib.suppress(SourceError):
            if digest_of(read(path)) == summary.digest:
                yield path, summary._replace(stamp=stamp), False


def _packed(outcome: Outcome) -> dict[str, Any]:
    return {
        "outside": outcome.outside,
        "only": outcome.only,
        "trains": outcome.trains,
        "findings": [{**finding._asdict(), "repair": packed(finding.repair)} for finding in outcome.findings],
        "limits": outcome.limits,
    }


def _unpacked(path: str, kept: dict[str, Any]) -> Outcome:
    findings = [_finding(path, finding) for finding in kept["findings"]]
    limits = [Problem(path, *told) for _, *told in kept["limits"]]
    rest = {name: kept[name] for name in ("outside", "only", "trains")}
    return Outcome(path, findings, limits=limits, **rest)


def _finding(path: str, kept: dict[str, Any]) -> Located:
    rebuilt = {
        "path": path,
        "place": Extent(*kept["place"]),
        "evidence": tuple(Reason(where, Extent(*place), *told) for where, place, *told in kept["evidence"]),
        "repair": unpacked(kept["repair"]),
        "fixes": (),
    }
    return Located(**{**kept, **rebuilt})


def _replace(path: Path, content: bytes) -> None:
    """Write a file so that no one sees a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    import tempfile  # noqa: PLC0415 - few runs have something new to keep

    descriptor, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        os.close(descriptor)
        Path(name).write_bytes(content)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
