"""Which arguments the classes of Transformers and Accelerate take, release by release.

Source: `arguments.json`, which `scripts/write_arguments.py` reads out of the packages' wheels.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

from xla_lint.knowledge.releases import Release, release
from xla_lint.knowledge.tables import load


class Taken(NamedTuple):
    """The first and the last of the releases that were read which take an argument."""

    first: Release
    last: Release


class Signature(NamedTuple):
    """The arguments of one class, over the releases that were read."""

    releases: tuple[Release, ...]
    arguments: dict[str, Taken]

    def knows(self, argument: str) -> bool:
        """Whether any release took an argument."""
        return argument in self.arguments

    def takes(self, argument: str, target: Release | None) -> bool:
        """Whether a release may take an argument; None stands for the newest one.

        Between two releases that were read, an argument of either counts; before the first one, any does.
        """
        taken = self.arguments.get(argument)
        if taken is None:
            return target is not None and target < self.releases[0]
        newest = self.releases[-1]
        wanted = newest if target is None or target > newest else target
        before = max((r for r in self.releases if r <= wanted), default=self.releases[0])
        after = min(r for r in self.releases if r >= wanted)
        return taken.first <= after and taken.last >= before


@functools.cache
def signatures(package: str) -> dict[str, Signature]:
    """The classes of a package whose arguments are known, by name.

    Raises:
        KeyError: nothing is known of the package.
    """
    table = load("arguments")[package]
    releases = tuple(release(text) for text in table["releases"])
    return {
        name: Signature(releases, {key: Taken(release(first), release(last)) for key, (first, last) in taken.items()})
        for name, taken in table["classes"].items()
    }
