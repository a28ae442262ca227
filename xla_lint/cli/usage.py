"""What a command was asked to do and cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class UsageError(Exception):
    """The command was called wrongly; its text is one line for the user."""


def meant(name: str, known: Iterable[str]) -> str:
    """What the user may have meant by a name that nothing bears; empty where nothing comes close."""
    import difflib  # noqa: PLC0415 - only a mistake needs it

    close = difflib.get_close_matches(name, list(known))
    return f"did you mean {' or '.join(close)}?" if close else ""
