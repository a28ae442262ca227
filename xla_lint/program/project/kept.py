"""What computations on a project gave, kept as long as the project answers what they asked of it as it did then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from xla_lint.program.project.trees import forget_oldest

if TYPE_CHECKING:
    from collections.abc import Callable

    from xla_lint.program.project.dependency_log import Dependencies, DependencyLog

T = TypeVar("T")

MOST_RUNS = 12
"""How many computations' results are kept."""


class Kept(NamedTuple):
    """A result, and what it depends on."""

    result: Any
    reads: Dependencies
    edition: int
    """The last edition of the project's files for which it is known to hold."""


class KeptResults:
    """Results by key; the least used are forgotten."""

    def __init__(self, log: DependencyLog, still_answers: Callable[[Dependencies], bool]) -> None:
        self._log = log
        self._still_answers = still_answers
        self._kept: dict[Any, Kept] = {}

    def of(self, key: Any, edition: int, compute: Callable[[], T]) -> T:
        """What a computation gives, which is run where it was not, or would be answered differently now."""
        known = self._kept.pop(key, None)
        if known is None or not (known.edition == edition or self._still_answers(known.reads)):
            with self._log.recording() as reads:
                known = Kept(compute(), reads, edition)
        else:
            self._log.note_all(known.reads)
        self._kept[key] = known._replace(edition=edition)
        forget_oldest(self._kept, MOST_RUNS)
        result: T = known.result
        return result
