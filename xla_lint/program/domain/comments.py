"""What comments to the linter do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xla_lint.program.domain.events import Event

if TYPE_CHECKING:
    from xla_lint.program.syntax.ignore_comments import IgnoreText


@dataclass(slots=True, eq=False)
class IgnoreComment(Event):
    """A comment leaves out findings, or is meant to."""

    text: IgnoreText
    idle: tuple[str, ...]
    """The rules among those that it names of which nothing is found there."""
