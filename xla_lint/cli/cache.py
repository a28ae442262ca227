"""Results of earlier runs, used again where nothing that they depend on has changed.

A result depends on the bytes and the place of its file, on the user's choice, on xla-lint, Python and astroid, on
which files the project holds and what it declares, and on every answer that the project gave to the analysis: the
bytes of the files that were read, and what files take part in. All of these are compared. What could not be checked
is not kept, so it is tried again.

There is one file for each project and choice. It is replaced as a whole, so that whoever reads it meanwhile sees the
old one or the new one; it begins with a digest of itself, so that a damaged one counts as none. A cache that cannot be
read or written costs time and nothing else.
"""

from __future__ import annotations

import contextlib
import dataclasses
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
from xla_lint.cli.results import Basis, Edit, Extent, Fix, Located, Outcome, Problem, Reason
from xla_lint.program.project.file_summary import FileSummary, Stamp, digest_of
from xla_lint.program.project.source import absolute, module_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.engine import Settings
    from xla_lint.program.project.project import Project

PACKAGE = Path(__file__).parent.parent
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
        """How many summaries are in the file."""
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
            project.summaries.update(_unchanged(self._held["summaries"]))
            self._known = len(project.summaries)
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
        now = time.time_ns()
        summaries = {
            os.fspath(path): summary.packed()
            for path, summary in self._summaries.items()
            if summary.stamp is not None and now - max(summary.stamp.modified, summary.stamp.changed) > UNMISTAKABLE
        }
        held = {"shape": self._shape, "results": {**results, **self._fresh}, "summaries": summaries}
        body = json.dumps(held).encode()
        with contextlib.suppress(OSError):
            _replace(self._path, f"{_fingerprint()} {digest_of(body)}\n".encode() + body)

    def _load(self) -> dict[str, Any]:
        """What the file holds, nothing where it is damaged or another xla-lint wrote it."""
        try:
            head, _, body = self._path.read_bytes().partition(b"\n")
        except OSError:
            head, body = b"", b""
        if head != f"{_fingerprint()} {digest_of(body)}".encode():
            return {"results": {}, "summaries": {}}
        held: dict[str, Any] = json.loads(body)
        return held


def default_folder() -> Path:
    """Where caches of the user lie on this platform."""
    import platformdirs  # noqa: PLC0415 - not every run keeps results

    return platformdirs.user_cache_path("xla-lint", appauthor=False)


@functools.cache
def _fingerprint() -> str:
    """A digest of what analyses: xla-lint with each of its files, Python, and the libraries that read source."""
    total = hashlib.blake2b(digest_size=16)
    total.update(repr((__version__, sys.version, astroid.__version__, pylint.__version__)).encode())
    for folder, folders, names in os.walk(PACKAGE):
        folders.sort()
        for name in sorted(name for name in names if name.endswith((".py", ".json"))):
            total.update(repr((folder, name, Stamp.of(Path(folder, name)))).encode())
    return total.hexdigest()


def _key(path: str, source: bytes) -> str:
    return digest_of(f"{module_name(path)}\n".encode(errors="surrogateescape") + source)


def _unchanged(summaries: dict[str, list[Any]]) -> Iterator[tuple[Path, FileSummary]]:
    for name, packed in summaries.items():
        path, summary = Path(name), FileSummary.unpacked(packed)
        if Stamp.of(path) == summary.stamp:
            yield path, summary


def _packed(outcome: Outcome) -> dict[str, Any]:
    return {
        "outside": outcome.outside,
        "only": outcome.only,
        "trains": outcome.trains,
        "findings": [dataclasses.asdict(finding) for finding in outcome.findings],
        "limits": [dataclasses.asdict(limit) for limit in outcome.limits],
    }


def _unpacked(path: str, packed: dict[str, Any]) -> Outcome:
    findings = [_finding(path, finding) for finding in packed["findings"]]
    limits = [Problem(**{**limit, "path": path}) for limit in packed["limits"]]
    kept = {name: packed[name] for name in ("outside", "only", "trains")}
    return Outcome(path, findings, limits=limits, **kept)


def _finding(path: str, packed: dict[str, Any]) -> Located:
    reasons = (Reason(**{**reason, "place": Extent(**reason["place"])}) for reason in packed["evidence"])
    fixes = (
        Fix(fix["title"], fix["safe"], tuple(Edit(Extent(**edit["place"]), edit["text"]) for edit in fix["edits"]))
        for fix in packed["fixes"]
    )
    rebuilt = {"path": path, "place": Extent(**packed["place"]), "evidence": tuple(reasons), "fixes": tuple(fixes)}
    return Located(**{**packed, **rebuilt})


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
