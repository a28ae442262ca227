"""`xla-sampler-without-rank`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.events import LibraryCall, LoaderBuilt
from xla_lint.program.domain.values import NONE, Instance, options
from xla_lint.rules.arguments import constant, given
from xla_lint.rules.base import EVERYWHERE, Rule, Severity
from xla_lint.rules.input.frameworks import framework_joins
from xla_lint.rules.input.samplers import DISTRIBUTED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding

GROUPS = ("torch.distributed.init_process_group", "deepspeed.init_distributed")


class SamplerWithoutRank(Rule):
    """A `DistributedSampler` that does not know the replicas, or a sampler together with `shuffle=True`.

    ## What it does
    Finds `DistributedSampler(rows)` without `num_replicas=` or `rank=` in a program that starts no process group,
    and `DataLoader` calls with both a sampler and `shuffle=True`. The finding stands at the call.

    ## Why it matters
    Without these arguments the sampler asks `torch.distributed`, whose process group does not exist in a program
    that `torch_xla.launch` or `xmp.spawn` started: it raises an error. A `DataLoader` with a sampler and
    `shuffle=True` raises a ValueError.

    ## What to write instead
    ```python
    import torch_xla.runtime as xr

    sampler = DistributedSampler(rows, num_replicas=xr.world_size(), rank=xr.global_ordinal(), shuffle=True)
    loader = DataLoader(rows, batch_size=32, sampler=sampler)
    ```

    For releases before 2.5: `xm.xrt_world_size()` and `xm.get_ordinal()`.

    ## When it is fine
    After `torch.distributed.init_process_group("xla", init_method="xla://")` the sampler finds the replicas itself.
    In a module that is not itself a script, the group may be started elsewhere, and nothing is reported.
    """

    symbol = "xla-sampler-without-rank"
    number = "9754"
    severity = Severity.ERROR
    message = "%(problem)s"
    subscribes = (LibraryCall, LoaderBuilt)
    modes = EVERYWHERE
    needs = (
        Role.COUNT,
        Role.RANK,
    )

    @classmethod
    def is_of_interest(cls, call: str) -> bool:
        """Distributed samplers."""
        return call == DISTRIBUTED

    def check(self, event: Event) -> Iterator[Finding]:
        """Report samplers without replicas, and samplers beside `shuffle=True`."""
        if isinstance(event, LoaderBuilt):
            loader = event.loader
            kinds = options(loader.sampler) if loader.sampler is not None else (NONE,)
            if constant(loader.shuffle) is True and all(isinstance(kind, Instance) for kind in kinds):
                yield self.finding(
                    event.node, problem="a DataLoader takes either a sampler or shuffle=True, and raises a ValueError"
                    " for both; let the sampler shuffle"
                )  # fmt: skip
        elif isinstance(event, LibraryCall) and not event.unpacked:
            missing = [
                name
                for position, name in ((1, "num_replicas"), (2, "rank"))
                if not given(event.argument(position, name))
            ]
            if missing and self._alone(event):
                world, rank = self.program.spell(Role.COUNT), self.program.spell(Role.RANK)
                yield self.finding(
                    event.node,
                    problem=f"DistributedSampler without {' and '.join(missing)} asks torch.distributed, and no process"
                    f" group was started: it raises an error; pass num_replicas={world} and rank={rank}",
                )

    def _alone(self, event: LibraryCall) -> bool:
        """Whether no process group can exist where this runs."""
        if self.program.has_call(*GROUPS) or framework_joins(self.program):
            return False
        return event.context.replicated or self.program.is_script(event.node)
