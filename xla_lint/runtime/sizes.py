"""Numbers that follow from sizes: what a change of a shape explains is no second cause."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isclose
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xla_lint.runtime.differences import Difference

_DIMENSIONS = re.compile(r"\[([\d,]*)\]")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
PRECISION = 1e-4
"""XLA prints a float32 in few digits."""


def dimensions(shape: str) -> tuple[int, ...]:
    """Those of `f32[8,4]`."""
    match = _DIMENSIONS.search(shape)
    return tuple(int(each) for each in match.group(1).split(",") if each) if match else ()


def element(shape: str) -> str:
    """The type of the elements of `f32[8,4]`."""
    return shape.partition("[")[0]


@dataclass(frozen=True, slots=True)
class Sizes:
    """How the dimensions of the inputs changed."""

    pairs: frozenset[tuple[int, int]]

    @classmethod
    def of(cls, inputs: Iterable[Difference]) -> Sizes:
        """From the inputs that changed."""
        return cls(
            frozenset(
                (was, now)
                for each in inputs
                for was, now in zip(dimensions(each.before), dimensions(each.after), strict=False)
                if was != now
            )
        )

    def and_of(self, change: Difference) -> Sizes:
        """These, and those of another change of a shape."""
        return Sizes(self.pairs | Sizes.of([change]).pairs)

    def explain(self, before: str, after: str) -> bool:
        """Whether the numbers in `after` differ from those in `before` as these sizes do, and nothing else differs."""
        if not self.pairs or _NUMBER.sub("#", before) != _NUMBER.sub("#", after):
            return False
        return all(
            old == new or self._explained(float(old), float(new))
            for old, new in zip(_NUMBER.findall(before), _NUMBER.findall(after), strict=True)
        )

    def _explained(self, old: float, new: float) -> bool:
        """A size; its multiple; a difference to it; what is divided by it, by one less, or by its root."""
        for was, now in self.pairs:
            if new - old == now - was:
                return True
            ratios = [now / was, (now / was) ** 0.5] if was else []
            ratios += [(now - 1) / (was - 1)] if was > 1 and now > 1 else []
            if old and any(isclose(new / old, each**power, rel_tol=PRECISION) for each in ratios for power in (1, -1)):
                return True
        return False
