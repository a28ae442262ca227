"""The findings that are known and accepted: a file names them, and a check reports the others alone.

A finding is recognised by its file, its symbol and the text of its line, so it stays known where lines above come and
go. Equal ones are counted.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from xla_lint.cli.rewrite import write_whole
from xla_lint.cli.usage import UsageError
from xla_lint.program.project.source import absolute

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from xla_lint.cli.results import Located

VERSION = 1


class Mark(NamedTuple):
    """What a finding is recognised by."""

    path: str
    """Relative to some folder, with slashes."""
    symbol: str
    text: str
    """The line on which it begins, without the space around."""


def mark_of(finding: Located, path: str) -> Mark:
    """What a finding is recognised by, where its file is called so."""
    return Mark(path, finding.symbol, finding.source.strip())


class Baseline:
    """What one file accepts."""

    def __init__(self, file: Path, *, written_anew: bool) -> None:
        """Read the file; one that is about to be written anew need not be there.

        Raises:
            UsageError: it cannot be read, or is none.
        """
        self.file = file
        self._accepted = Counter[Mark]()
        if not written_anew or file.exists():
            self._accepted.update(dict(_read(file)))
        self._left = self._accepted.copy()
        self._folder = absolute(file).parent
        self._seen: set[str] = set()

    def unknown(self, path: str, findings: Iterable[Located]) -> list[Located]:
        """Those of a file's findings that are not accepted."""
        called = self._relative(path)
        self._seen.add(called)
        new = []
        for finding in findings:
            mark = mark_of(finding, called)
            if self._left[mark]:
                self._left[mark] -= 1
            else:
                new.append(finding)
        return new

    def fixed(self) -> list[str]:
        """What it accepts and is found no more in the files that were checked or are gone, each in a few words."""
        return [
            f"{mark.symbol} in {mark.path} ({mark.text})" if mark.text else f"{mark.symbol} in {mark.path}"
            for mark in sorted((self._left).elements())
            if mark.path in self._seen or not (self._folder / mark.path).exists()
        ]

    def write(self, found: dict[str, list[Located]], unchecked: Collection[str]) -> int:
        """Accept what was found in the files that were checked, and what was accepted in others; gives how many.

        Raises:
            UsageError: the file cannot be written.
        """
        kept = {self._relative(path) for path in unchecked}
        checked = {self._relative(path) for path in found} - kept
        marks = Counter(
            {
                mark: number
                for mark, number in self._accepted.items()
                if mark.path not in checked and (mark.path in kept or (self._folder / mark.path).exists())
            }
        )
        for path, findings in found.items():
            if self._relative(path) in checked:
                marks.update(mark_of(finding, self._relative(path)) for finding in findings)
        rows = [{**mark._asdict(), "count": number} for mark, number in sorted(marks.items())]
        text = json.dumps({"version": VERSION, "findings": rows}, indent=1, ensure_ascii=False) + "\n"
        try:
            write_whole(self.file, text.encode())
        except OSError as error:
            raise UsageError(f"{self.file} cannot be written: {(error.strerror or str(error)).lower()}") from error
        return marks.total()

    def _relative(self, path: str) -> str:
        return Path(os.path.relpath(path, self._folder)).as_posix()


def _read(file: Path) -> Iterator[tuple[Mark, int]]:
    try:
        document: Any = json.loads(file.read_text(encoding="utf-8"))
        if document["version"] != VERSION:
            raise UsageError(f"{file} was written by another version of xla-lint")
        if not isinstance(document["findings"], list):
            raise TypeError("no list")
        for row in document["findings"]:
            mark, count = Mark(row["path"], row["symbol"], row["text"]), row["count"]
            if type(count) is not int or not all(isinstance(part, str) for part in mark):
                raise TypeError("no finding")
            yield mark, count
    except OSError as error:
        raise UsageError(
            f"{file} cannot be read: {(error.strerror or str(error)).lower()}; --write-baseline writes it"
        ) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(f"{file} is no baseline of xla-lint") from error
