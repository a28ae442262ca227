"""What a command was asked to do and cannot."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class UsageError(Exception):
    """The command was called wrongly; its text is one line for the user."""


def meant(name: str, known: Iterable[str]) -> str:
    """What the user may have meant by a name that nothing bears; empty where nothing comes close."""
    import difflib  # noqa: PLC0415 - only a mistake needs it

    close = difflib.get_close_matches(name, list(known))
    return f"did you mean {' or '.join(close)}?" if close else ""


def need_place(path: Path) -> None:
    """Make sure before a program runs that a report can be written there after it.

    Raises:
        UsageError: it cannot.
    """
    if path.is_dir() or not path.parent.is_dir():
        raise UsageError(f"{path} cannot be written: {'is a directory' if path.is_dir() else 'no such directory'}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(f"{path} cannot be written: permission denied")
