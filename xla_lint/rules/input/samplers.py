"""What the rules on samplers know of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.objects import differs_between_replicas
from xla_lint.program.domain.values import NONE, UNKNOWN, Instance, Number, Trait, options
from xla_lint.program.library.data import SAMPLER

if TYPE_CHECKING:
    from xla_lint.program.domain.values import Value

DISTRIBUTED = "torch.utils.data.DistributedSampler"
BATCHES = "torch.utils.data.BatchSampler"
WHOLE = ("torch.utils.data.RandomSampler", "torch.utils.data.SequentialSampler")
"""Samplers that walk the whole dataset on every replica."""
WEIGHTED = "torch.utils.data.WeightedRandomSampler"


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
        or (isinstance(option, Instance) and (option.library in WHOLE or draws_from_all(option)))
        or (isinstance(option, Instance) and option.library == BATCHES and walks_everything(rows_of(option)))
        for option in options(value)
    )


def draws_from_all(sampler: Instance) -> bool:
    """True for a sampler that draws from all rows by weights, as many as the source says or as something is long."""
    drawn = sampler.attributes.get("*rows")
    if sampler.library != WEIGHTED or not isinstance(drawn, Number) or differs_between_replicas(sampler):
        return False
    return drawn.const is not None or Trait.SHAPE in drawn.traits


def rows_of(batches: Instance) -> Value:
    """The sampler whose rows a `BatchSampler` groups."""
    return batches.attributes.get(SAMPLER, UNKNOWN)
