"""The files as they were at a revision of git, to tell the findings that a change causes from those before it."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from xla_lint.cli.baseline import mark_of
from xla_lint.cli.cache import Cache
from xla_lint.cli.many import Job, check_many
from xla_lint.cli.usage import UsageError
from xla_lint.program.project.source import absolute

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.cli.config import Choice
    from xla_lint.cli.results import Located

AS_STORED = ("-c", "filter.lfs.smudge=", "-c", "filter.lfs.process=", "-c", "filter.lfs.required=false")
"""Large files stay the pointers that git stores: nothing is fetched."""


class Revision:
    """One revision, and where the files lie that are checked."""

    def __init__(self, name: str, near: str) -> None:
        """Find the last commit that the revision and the current state of the repository around a path share.

        Raises:
            UsageError: there is no git, no repository, or no such revision.
        """
        place = absolute(near)
        self._folder = place if place.is_dir() else place.parent
        self._top = Path(self._git("rev-parse", "--show-toplevel"))
        try:
            commit = self._git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        except UsageError as error:
            raise UsageError(f"--diff-base: {self._top} has no revision '{name}'") from error
        try:
            self._commit = self._git("merge-base", commit, "HEAD")
        except UsageError:
            self._commit = commit

    def new(self, findings: list[tuple[Located, Choice]], processes: int) -> list[tuple[Located, Choice]]:
        """The findings that were not there before the change, wherever they stand."""
        with self._files() as before:
            earlier = self._renamed()
            choices = {finding.path: choice for finding, choice in findings}
            places = {path: earlier.get(name, name) for path in choices if (name := self._name(path))}
            jobs = {str(before / name): path for path, name in places.items() if name and (before / name).is_file()}
            known = Counter[object]()
            work = [Job(place, choices[path].settings) for place, path in jobs.items()]
            for outcome in check_many(work, Cache(None), processes):
                path = jobs[outcome.path]
                known.update(mark_of(f, path) for f in outcome.findings if choices[path].reports(f))
        new = []
        for finding, choice in findings:
            mark = mark_of(finding, finding.path)
            if known[mark]:
                known[mark] -= 1
            else:
                new.append((finding, choice))
        return new

    def _name(self, path: str) -> str:
        """What git calls a file; empty outside the repository."""
        name = os.path.relpath(os.path.realpath(path), self._top)
        return "" if name.startswith("..") else Path(name).as_posix()

    def _renamed(self) -> dict[str, str]:
        """The earlier names of files, by their names now."""
        fields = self._git("diff", "--name-status", "--diff-filter=R", "-M", "-z", self._commit).split("\0")
        return dict(zip(fields[2::3], fields[1::3], strict=False))

    @contextmanager
    def _files(self) -> Iterator[Path]:
        """A folder with all files of the commit, which is where a project begins if the repository is."""
        with tempfile.TemporaryDirectory(prefix="xla-lint-") as place:
            folder = Path(os.path.realpath(place), self._top.name)
            index = {"GIT_INDEX_FILE": str(Path(place, "index"))}
            self._git("read-tree", self._commit, **index)
            self._git(*AS_STORED, "checkout-index", "--all", "--force", f"--prefix={folder}{os.sep}", **index)
            (folder / ".git").mkdir(parents=True)
            yield folder

    def _git(self, *arguments: str, **environment: str) -> str:
        try:
            done = subprocess.run(
                ["git", "-C", str(self._folder), *arguments],
                env={**os.environ, **environment},
                capture_output=True,
                check=False,
            )
        except OSError as error:
            raise UsageError(f"--diff-base needs git: {(error.strerror or str(error)).lower()}") from error
        if done.returncode:
            lines = done.stderr.decode(errors="replace").strip().splitlines() or ["git failed"]
            raise UsageError(f"--diff-base: {lines[0]}")
        return os.fsdecode(done.stdout).rstrip("\n")
