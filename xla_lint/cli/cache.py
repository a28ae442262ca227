"""Results of earlier runs, used again where nothing that they depend on has changed.

A result depends on the bytes and the place of its file, on the user's choice, on xla-lint, Python and astroid, on
which files the project holds and what it declares, and on every answer that the project gave to the analysis: the
bytes of the files that were read, and what files take part in. All of these are compared; where no file of the project
has changed, its answers are known to be the same. What an error of our own ended is not kept: it is tried again.

Contents are compared, not times: a cache outlives a fresh checkout at the same place, and the same xla-lint installed
anew. Times only tell what need not be read again.

There is one file for each project and choice: `store_file.py`. A cache that cannot be read or written costs time and
nothing else.
"""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xla_lint.cli.results import Basis, Located, Outcome, Problem, Reason
from xla_lint.cli.store_file import HEADS, Held, Result, load, save, state_of
from xla_lint.fixes.packing import packed, unpacked
from xla_lint.places import Extent
from xla_lint.program.project.file_summary import Stamp, digest_of
from xla_lint.program.project.source import SourceError, absolute, module_name, read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.engine import Settings
    from xla_lint.program.project.dependency_log import Dependencies
    from xla_lint.program.project.project import Project
    from xla_lint.program.project.summaries import Packed

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

    def at_rest(self, project: Project, settings: Settings, path: str) -> Outcome | None:
        """What is known of a file of a project in which no file has changed, None where it must be looked at."""
        store = self._store_of(project, settings)
        return store.at_rest(project, path) if store is not None else None

    def recall(self, project: Project, settings: Settings, path: str, source: bytes) -> Outcome | None:
        """What is known of a file with these bytes, None where it must be checked."""
        store = self._store_of(project, settings)
        return store.recall(project, path, source) if store is not None else None

    def take(self, project: Project, settings: Settings, outcome: Outcome) -> None:
        """Take the basis of an outcome away, and keep both unless an error of our own ended the check."""
        basis, outcome.basis = outcome.basis, None
        store = self._store_of(project, settings)
        if store is not None and basis is not None and not outcome.failed:
            store.keep(project, outcome, basis)

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
            store = self._stores[project.root, settings] = Store(self._folder / f"{name}.json")
        store.meet(project)
        return store


class Store:
    """What is kept of one project."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held = load(path)
        self._project: Project | None = None
        self._is_at_rest = False
        """Whether no file of the project has changed since the results were kept."""
        self._confirmed: set[str] = set()
        """The files whose kept results hold of the project as it is now."""
        self._fresh: dict[str, bytes] = {}
        """What this run found, packed, by the absolute path of the file."""
        self._is_outdated = False
        """Whether the file on disk tells less than what is known by now."""

    def meet(self, project: Project) -> None:
        """Tell a project what is known of its files, those left out that have changed since."""
        if self._project is project:
            return
        if self._project is not None and self._project.shape == project.shape:
            project.summaries = self._project.summaries
        else:
            self._begin(project)
        self._project = project

    def _begin(self, project: Project) -> None:
        if self._held.shape != project.shape:
            self._held = Held()
        files = dict(_unchanged(self._held.files))
        project.summaries.begin_with(files, self._held.rest)
        self._is_at_rest = len(files) == len(project.files)
        self._is_outdated = files != self._held.files or not self._is_at_rest

    def at_rest(self, project: Project, path: str) -> Outcome | None:
        """What is known of a file of a project in which no file has changed, None where it must be looked at."""
        name = str(absolute(path))
        result = self._held.results.get(name)
        if not self._is_at_rest or result is None or result.state != self._held.state or name not in self._held.files:
            return None
        entry = json.loads(result.packed)
        same = entry["key"] == _key(path, self._held.files[name][1])
        if not same or not project.still_answers(_reads(entry["elsewhere"])):
            return None
        return _unpacked(path, entry["outcome"])

    def recall(self, project: Project, path: str, source: bytes) -> Outcome | None:
        """What is known of a file with these bytes, None where it must be checked."""
        name = str(absolute(path))
        result = self._held.results.get(name)
        if result is None:
            return None
        entry = json.loads(result.packed)
        if entry["key"] != _key(path, digest_of(source)):
            return None
        if not project.still_answers(_reads(entry["reads"] + entry["elsewhere"])):
            return None
        self._confirmed.add(name)
        return _unpacked(path, entry["outcome"])

    def keep(self, project: Project, outcome: Outcome, basis: Basis) -> None:
        """Keep what the check of a file gave, and what it was made from, unless that has changed meanwhile."""
        if not project.still_answers(basis.dependencies):
            return
        parts: tuple[list[Any], list[Any]] = [], []
        for question, answer in basis.dependencies.items():
            parts[project.answers_for_others(question)].append([*question, answer])
        entry = {
            "key": _key(outcome.path, digest_of(basis.source)),
            "reads": parts[False],
            "elsewhere": parts[True],
            "outcome": _packed(outcome),
        }
        self._fresh[str(absolute(outcome.path))] = json.dumps(entry).encode()

    def save(self) -> None:
        """Write the store, where this run has learned something."""
        if self._project is None or not (self._fresh or self._is_outdated):
            return
        summaries = self._project.summaries.packed()
        files = {name: [_settled(summary[0]), *summary[1:HEADS]] for name, summary in summaries.items()}
        rest = {name: summary[HEADS:] for name, summary in summaries.items()}
        state = state_of(files)
        others = load(self._path)
        results = others.results if others.shape == self._project.shape else {}
        results = {name: result for name, result in results.items() if Path(name).exists()}
        results |= {name: self._held.results[name]._replace(state=state) for name in self._confirmed}
        results |= {name: Result(state, entry) for name, entry in self._fresh.items()}
        with contextlib.suppress(OSError):
            save(self._path, Held(self._project.shape, state, files, lambda: rest, results))


def default_folder() -> Path:
    """Where caches of the user lie on this platform."""
    import platformdirs  # noqa: PLC0415 - not every run keeps results

    return platformdirs.user_cache_path("xla-lint", appauthor=False)


def _reads(kept: list[list[Any]]) -> Dependencies:
    return {(kind, place): answer for kind, place, answer in kept}


def _key(path: str, digest: str) -> list[str]:
    return [module_name(path), digest]


def _settled(stamp: list[int] | None) -> list[int] | None:
    """The stamp of a file, None where the file may be written again and get the same."""
    return stamp if stamp is not None and time.time_ns() - max(stamp[:2]) > UNMISTAKABLE else None


def _unchanged(files: Packed) -> Iterator[tuple[str, list[Any]]]:
    """The files that hold what they did, each with its stamp as it is now."""
    for name, kept in files.items():
        stamp = Stamp.of(name)
        if stamp is not None and list(stamp) == kept[0]:
            yield name, kept
            continue
        with contextlib.suppress(SourceError):
            if digest_of(read(name)) == kept[1]:
                yield name, [stamp, kept[1]]


def _packed(outcome: Outcome) -> dict[str, Any]:
    return {
        "outside": outcome.outside,
        "only": outcome.only,
        "trains": outcome.trains,
        "findings": [{**finding._asdict(), "repair": packed(finding.repair)} for finding in outcome.findings],
        "problems": outcome.problems,
        "limits": outcome.limits,
        "skipped": outcome.skipped,
    }


def _unpacked(path: str, kept: dict[str, Any]) -> Outcome:
    findings = [_finding(path, finding) for finding in kept["findings"]]
    rest = {name: kept[name] for name in ("outside", "only", "trains", "skipped")}
    return Outcome(path, findings, _problems(path, kept["problems"]), _problems(path, kept["limits"]), **rest)


def _problems(path: str, kept: list[list[Any]]) -> list[Problem]:
    return [Problem(path, *told) for _, *told in kept]


def _finding(path: str, kept: dict[str, Any]) -> Located:
    rebuilt = {
        "path": path,
        "place": Extent(*kept["place"]),
        "evidence": tuple(Reason(where, Extent(*place), *told) for where, place, *told in kept["evidence"]),
        "repair": unpacked(kept["repair"]),
        "fixes": (),
    }
    return Located(**{**kept, **rebuilt})
