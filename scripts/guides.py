"""What three user guides tell people to do, and the mistakes in them, with what finds a violation.

Source: `guides.json`, which names the guides. Each point says what to do in our words.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Guide:
    """A guide that users follow."""

    key: str
    """The letter that its points begin with."""
    title: str
    address: str
    """Where it is published; empty for slides."""


@dataclass(frozen=True, slots=True)
class Point:
    """One thing that a guide tells people to do, or one mistake in it.

    Either something finds a violation, or `reason` says why nothing does.
    """

    number: str
    guide: str
    says: str
    """What to do; for a mistake the code, and what happens."""
    checks: tuple[str, ...]
    """Symbols of xla-lint's rules."""
    pylint: tuple[str, ...]
    """Symbols of pylint's own messages."""
    reason: str


@dataclass(frozen=True, slots=True)
class Guides:
    """All of it."""

    guides: tuple[Guide, ...]
    points: tuple[Point, ...]
    mistakes: tuple[Point, ...]


@functools.cache
def guides() -> Guides:
    """The table."""
    raw: dict[str, Any] = json.loads(Path(__file__).with_name("guides.json").read_text(encoding="utf-8"))
    return Guides(
        tuple(Guide(key, guide["title"], guide.get("address", "")) for key, guide in raw["guides"].items()),
        tuple(_point(entry, entry["id"][0], entry["says"]) for entry in raw["points"]),
        tuple(_point(entry, entry["guide"], f"{entry['code']}: {entry['happens']}") for entry in raw["mistakes"]),
    )


def _point(entry: dict[str, Any], guide: str, says: str) -> Point:
    return Point(
        entry["id"],
        guide,
        says,
        tuple(entry.get("checks", ())),
        tuple(entry.get("pylint", ())),
        entry.get("reason", ""),
    )
