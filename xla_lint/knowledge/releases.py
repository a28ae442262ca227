"""Releases of torch_xla, as the tables write them."""

from __future__ import annotations

Release = tuple[int, int]
"""Major and minor number: 2.9 is `(2, 9)`."""


def release(text: str) -> Release:
    """Read `2.9`.

    Raises:
        ValueError: the text is no release.
    """
    major, _, minor = text.partition(".")
    return int(major), int(minor)
