"""What the rules on samplers know of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.objects import differs_between_replicas
from xla_lint.program.domain.values import NONE, UNKNOWN, Instance, Number, Trait, options
from xla_lint.program.queries import drawn_rows, grouped_sampler

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
            return distributed(grouped_sampler(option))
    return None


def walks_everything(value: Value | None) -> bool:
    """True where a loader has no sampler, or surely one that leaves no row to other replicas."""
    return value is None or all(option is NONE or _leaves_none(option) for option in options(value))


def _leaves_none(sampler: Value) -> bool:
    if not isinstance(sampler, Instance):
        return False
    if sampler.library == BATCHES:
        return walks_everything(grouped_sampler(sampler) or UNKNOWN)
    return sampler.library in WHOLE or draws_from_all(sampler)


def draws_from_all(sampler: Instance) -> bool:
    """True for a sampler that draws by weights from all rows: as many as the source states, or as something is long."""
    drawn = drawn_rows(sampler)
    if sampler.library != WEIGHTED or not isinstance(drawn, Number) or differs_between_replicas(sampler):
        return False
    return drawn.const is not None or Trait.SHAPE in drawn.traits
