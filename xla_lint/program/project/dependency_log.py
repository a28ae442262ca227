"""What an analysis asked of its project: where all answers are the same again, so is what the analysis found."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

Question = tuple[str, str]
"""What was asked, and of which path."""
Answer = Any
"""Of the kinds that JSON knows."""
Dependencies = dict[Question, Answer]


class DependencyLog:
    """Notes questions and answers for whoever records at the time, and for those who did around it."""

    def __init__(self) -> None:
        self._open: list[Dependencies] = []

    @contextmanager
    def recording(self) -> Iterator[Dependencies]:
        """Give the questions that are asked meanwhile, and their answers."""
        reads: Dependencies = {}
        self._open.append(reads)
        try:
            yield reads
        finally:
            self._open.pop()
            self.note_all(reads)

    @property
    def is_recording(self) -> bool:
        """Whether anybody records."""
        return bool(self._open)

    def note(self, kind: str, path: Path, answer: Answer) -> None:
        """Note one question and its answer."""
        if self._open:
            self._open[-1][kind, str(path)] = answer

    def note_all(self, reads: Mapping[Question, Answer]) -> None:
        """Note what was asked before, for a result that is used again."""
        if self._open:
            self._open[-1].update(reads)
