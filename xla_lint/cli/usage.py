"""What a command was asked to do and cannot."""

from __future__ import annotations


class UsageError(Exception):
    """The command was called wrongly; its text is one line for the user."""
