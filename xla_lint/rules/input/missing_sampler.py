"""`xla-missing-sampler`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.backend.backend import Role
from xla_lint.program.backend.torch_xla.names import USE_SPMD
from xla_lint.program.domain.definitions import Class, Function
from xla_lint.program.domain.events import LoaderBuilt, RankIndex
from xla_lint.program.domain.objects import differs_between_replicas, library_base, lineage, member_of
from xla_lint.program.domain.values import UNKNOWN, Instance, options
from xla_lint.program.domain.walk import tensors_in
from xla_lint.program.queries import attributes_iterated, has_all_rows, is_streamed, names_in, setting
from xla_lint.rules.base import EVERYWHERE, Confidence, Rule, Severity
from xla_lint.rules.input.frameworks import framework_feeds
from xla_lint.rules.input.samplers import walks_everything
from xla_lint.rules.wording import line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.program.domain.values import Value
    from xla_lint.rules.base import Finding

ITERABLE = "torch.utils.data.IterableDataset"
PARTING = ("rank", "world", "ordinal", "replica", "worker", "shard", "process")
"""Words of which one stands in the names by which a dataset asks for its part of the rows."""
DRAWING = ("rand", "choice", "sample", "shuffle", "perm", "uniform", "normal")
"""Words of which one stands in the names of what draws at random."""
SAMPLER = "pass sampler=DistributedSampler(dataset, num_replicas={world}, rank={rank})"
BY_NODE = "pass split_dataset_by_node(dataset, rank={rank}, world_size={world})"
OWN_ROWS = "let its __iter__ yield one row in {world}, from row {rank} on"


class MissingSampler(Rule):
    """Several replicas train, and the `DataLoader` has no distributed sampler.

    ## What it does
    Finds `DataLoader` calls in code that several replicas run (reached from `torch_xla.launch`, `xmp.spawn` or
    `_mp_fn`) whose batches reach a training loop, without a sampler that gives each replica its own part of the
    rows. Datasets of Hugging Face count, streamed or not, which nothing splits by the rank. The finding stands at the
    `DataLoader` call.

    ## Why it matters
    Every replica walks the whole dataset. With the same seed all of them see the same batches, so that eight
    replicas do the work of one. With different seeds an epoch takes as long as on one replica.

    ## What to write instead
    ```python
    sampler = DistributedSampler(rows, num_replicas=xr.world_size(), rank=xr.global_ordinal(), shuffle=True)
    loader = DataLoader(rows, batch_size=32, sampler=sampler, drop_last=True)
    ```

    And call `sampler.set_epoch(epoch)` at the start of each epoch. A dataset of Hugging Face that is streamed takes no
    sampler; it is split with `split_dataset_by_node(rows, rank=xr.global_ordinal(), world_size=xr.world_size())`.

    ## When it is fine
    The dataset gives each replica its own rows: an `IterableDataset` that shards itself, which one of the project may
    do if its code names ranks, workers or shards, or iterates what is not in sight; or one that is built from the
    replica's ordinal, or draws each row at random whatever its number. Evaluation loops, SPMD programs (one process
    drives all devices), and loaders that Accelerate, Lightning or the Trainer of Transformers shard are not reported.
    """

    symbol = "xla-missing-sampler"
    number = "9753"
    severity = Severity.ERROR
    message = (
        "every replica trains on all rows of this DataLoader, which feeds the training loop of line %(line)s:"
        " %(instead)s"
    )
    subscribes = (LoaderBuilt,)
    modes = EVERYWHERE
    needs = (
        Role.COUNT,
        Role.RANK,
    )

    def check(self, event: Event) -> Iterator[Finding]:
        """Report loaders of replicated training loops that split nothing."""
        if not isinstance(event, LoaderBuilt) or not event.context.replicated or event.loader.unpacked:
            return
        loader = event.loader
        training = next((loop for loop in loader.loops if loop.trains), None)
        if training is None or not walks_everything(loader.sampler) or any(map(may_be_split, options(loader.dataset))):
            return
        elsewhere = self.program.has_call(USE_SPMD) or framework_feeds(self.program)
        if not elsewhere and not self._splits_by_hand(loader.dataset):
            world, rank = self.program.spell(Role.COUNT), self.program.spell(Role.RANK)
            sureness = Confidence.of(training.certain)
            instead = way_to_split(loader.dataset).format(world=world, rank=rank)
            yield self.finding(event.node, sureness, line=line(training.node, event.node), instead=instead)

    def _splits_by_hand(self, dataset: Value) -> bool:
        """Whether the program takes parts by rank, or makes other random rows on each replica."""
        if self.program.of(RankIndex):
            return True
        seeds = self.program.calls("torch.manual_seed", "torch.Generator.manual_seed")
        seeded = any(differs_between_replicas(value) for call in seeds for value in call.args)
        return seeded and next(iter(tensors_in(dataset)), None) is not None


def way_to_split(dataset: Value) -> str:
    """What gives each replica its own rows of a dataset."""
    if isinstance(dataset, Instance) and is_streamed(dataset):
        return BY_NODE
    return OWN_ROWS if is_iterable(dataset) else SAMPLER


def is_iterable(dataset: Value) -> bool:
    """Whether a dataset has no length and takes no sampler."""
    return isinstance(dataset, Instance) and dataset.cls is not None and library_base(dataset.cls) == ITERABLE


def may_be_split(dataset: Value) -> bool:
    """Whether a dataset may hold other rows on each replica."""
    if dataset is UNKNOWN or differs_between_replicas(dataset):
        return True
    if not isinstance(dataset, Instance):
        return False
    if draws_rows(dataset):
        return True
    if has_all_rows(dataset):
        return False
    base = library_base(dataset.cls) if dataset.cls is not None else dataset.library
    if base == ITERABLE:
        return dataset.cls is None or splits_itself(dataset, dataset.cls)
    return not base.startswith(("torch.", "torchvision.")) and bool(base)


def draws_rows(dataset: Instance) -> bool:
    """Whether a dataset of the project draws its rows at random, and never asks for a row's number."""
    getter = member_of(dataset.cls, "__getitem__")
    names = [parameter.name for parameter in getter.node.args.arguments] if isinstance(getter, Function) else []
    if len(names) != 2 or not isinstance(getter, Function):
        return False
    used = {name.name for name in getter.node.nodes_of_class(nodes.Name)}
    return names[1] not in used and any(word in name.lower() for name in names_in(getter.node) for word in DRAWING)


def splits_itself(dataset: Instance, cls: Class) -> bool:
    """Whether an iterable dataset of the project may give each replica other rows.

    Its code names something of replicas or workers, or iterates what is not in sight.
    """
    for part in (base.node for base in lineage(cls) if isinstance(base, Class)):
        if any(word in name.lower() for name in names_in(part) for word in PARTING):
            return True
        if any(is_out_of_sight(setting(dataset, name)) for name in attributes_iterated(part)):
            return True
    return False


def is_out_of_sight(value: Value | None) -> bool:
    """Whether nothing is known of a value, or a library made it."""
    return value is UNKNOWN or (isinstance(value, Instance) and value.cls is None)
