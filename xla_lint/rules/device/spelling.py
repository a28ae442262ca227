"""How messages about releases are put together."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xla_lint.knowledge.api import Life
    from xla_lint.knowledge.releases import Release


def dotted_release(release: Release) -> str:
    """A release as users write it: `2.9`."""
    return f"{release[0]}.{release[1]}"


def advice(life: Life, target: Release) -> str:
    """What to use instead in the target release, after a colon; empty where there is nothing."""
    replacement = life.replacement(target)
    return f": use {replacement}" if replacement is not None else ""
