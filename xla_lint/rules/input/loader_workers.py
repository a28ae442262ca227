"""`xla-loader-workers`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import LibraryCall, LoaderBuilt
from xla_lint.rules.arguments import constant
from xla_lint.rules.base import Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.program.domain.values import Value
    from xla_lint.rules.base import Finding

ARGUMENTS = "TrainingArguments"


class LoaderWorkers(Rule):
    """A loader that feeds the device has no worker processes.

    ## What it does
    Finds `DataLoader` calls whose batches reach the device, and `TrainingArguments`, without `num_workers`
    (`dataloader_num_workers`) or with 0. The finding stands at the call. The rule is advice: it is off unless
    enabled.

    ## Why it matters
    Without workers the rows are read, decoded and stacked in the training process, between two steps or in the one
    thread that feeds the device. A device that is faster than that waits.

    ## What to write instead
    ```python
    DataLoader(rows, batch_size=32, num_workers=4, persistent_workers=True)
    TrainingArguments("out", dataloader_num_workers=4)
    ```

    At least one worker a device, fewer than the host has processors.

    ## When it is fine
    Rows that lie in memory as tensors need no workers, and small hosts have none to spare.
    """

    symbol = "xla-loader-workers"
    number = "9756"
    severity = Severity.ADVICE
    message = (
        "%(what)s is %(how)s: batches are made in the training process while the device waits; pass %(what)s=4 or so"
    )
    subscribes = (LoaderBuilt, LibraryCall)

    @classmethod
    def is_of_interest(cls, call: str) -> bool:
        """The arguments of Trainers."""
        return is_arguments(call)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report loaders without workers."""
        if isinstance(event, LoaderBuilt):
            loader = event.loader
            feeds = loader.fed or any(loop.is_step for loop in loader.loops)
            if feeds and not loader.unpacked and none(loader.workers):
                yield self.finding(event.node, what="num_workers", how=stated(loader.workers))
        elif isinstance(event, LibraryCall) and not event.unpacked:
            workers = event.kwargs.get("dataloader_num_workers")
            if none(workers):
                yield self.finding(event.node, what="dataloader_num_workers", how=stated(workers))


def is_arguments(name: str) -> bool:
    """True for the `TrainingArguments` of Transformers and its subclasses."""
    package, _, last = name.rpartition(".")
    return last.endswith(ARGUMENTS) and package.startswith(("transformers", "optimum."))


def none(workers: Value | None) -> bool:
    """Whether a number of workers is surely 0."""
    return workers is None or constant(workers) == 0


def stated(workers: Value | None) -> str:
    """How the source says so."""
    return "not set" if workers is None else "0"
