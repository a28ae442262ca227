"""Paths, one object each: a tree of thousands of files is told apart by them over and over."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=1 << 16)
def path_of(text: str) -> Path:
    """The path that a text spells: the same object for the same text, which knows its parts and its hash by then."""
    return Path(text)
