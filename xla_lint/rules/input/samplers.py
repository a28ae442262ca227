"""What the rules on samplers know of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.library.data import SAMPLER
from xla_lint.program.values import NONE, UNKNOWN, Instance, options

if TYPE_CHECKING:
    from xla_lint.program.values import Value

DISTRIBUTED = "torch.utils.data.DistributedSampler"
BATCHES = "torch.utils.data.BatchSampler"
WHOLE = ("torch.utils.data.RandomSampler", "torch.utils.data.SequentialSampler")
"""Samplers that walk the whole dataset on every replica."""


def distributed(value: Value | None) -> Instance | None:
    """The `DistributedSampler` that a value is, or groups into batches, or may be on some path."""
    for option in options(value) if value is not None else ():
        if isinstance(option, Instance) and option.library == DISTRIBUTED:
            return option
        if isinstance(option, Instance) and option.library == BATCHES:
            return distributed(rows_of(option))
    return None


def walks_everything(value: Value | None) -> bool:
    """True where a loader has no sampler, or surely one that leaves no row to other replicas."""
    return value is None or all(
        option is NONE
        or (isinstance(option, Instance) and option.library in WHOLE)
        or (isinstance(option, Instance) and option.library == BATCHES and walks_everything(rows_of(option)))
        for option in options(value)
    )


def rows_of(batches: Instance) -> Value:
    """The sampler whose rows a `BatchSampler` groups."""
    return batches.attributes.get(SAMPLER, UNKNOWN)
