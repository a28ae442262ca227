"""Errors of our own: each ends the interpretation of one function or statement, and is kept to be told."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from types import TracebackType

    from astroid import nodes


class InternalError(NamedTuple):
    """An error inside the engine, and the function or statement that it was busy with."""

    error: Exception
    node: nodes.NodeNG


class Contained(AbstractContextManager["Contained"]):
    """A context that no error of our own leaves: it is added to the faults, and `failed` tells so."""

    def __init__(self, errors: list[InternalError], node: nodes.NodeNG) -> None:
        self.errors = errors
        self.node = node
        self.failed = False

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        """Keep an error; an interruption passes."""
        self.failed = isinstance(error, Exception)
        if isinstance(error, Exception):
            self.errors.append(InternalError(error, self.node))
        return self.failed
