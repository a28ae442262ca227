"""`xla-sampler-without-epoch`."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from xla_lint.program.domain.events import LoopRun
from xla_lint.program.domain.loops import Form
from xla_lint.program.queries import setting
from xla_lint.rules.arguments import constant
from xla_lint.rules.base import EVERYWHERE, Confidence, Rule, Severity
from xla_lint.rules.input.frameworks import framework_feeds
from xla_lint.rules.input.samplers import DISTRIBUTED, distributed
from xla_lint.rules.wording import line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event, LibraryCall
    from xla_lint.program.domain.loops import Loop
    from xla_lint.program.domain.values import Instance
    from xla_lint.rules.base import Finding

UNKNOWN_CALL = "?.set_epoch"


class SamplerWithoutEpoch(Rule):
    """An epoch loop never tells its `DistributedSampler` which epoch it is.

    ## What it does
    Finds epoch loops around a training loop whose loader has a shuffling `DistributedSampler`, in which `set_epoch` is
    never called on that sampler. Calls are followed. The finding stands at the epoch loop. The rule is advice: it is
    off unless enabled.

    ## Why it matters
    The sampler shuffles by its seed and its epoch. Without `set_epoch` every epoch walks the rows in the same order,
    and each replica sees the same part of them every time.

    ## What to write instead
    ```python
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            ...
    ```

    ## When it is fine
    With `shuffle=False`. Where one epoch is trained only, or a framework calls `set_epoch`.
    """

    symbol = "xla-sampler-without-epoch"
    number = "9755"
    severity = Severity.ADVICE
    message = (
        "the epoch loop of line %(line)s never calls set_epoch on the DistributedSampler of line %(built)s: every epoch"
        " walks the rows in the same order; call sampler.set_epoch(epoch) at its start"
    )
    subscribes = (LoopRun,)
    modes = EVERYWHERE

    def check(self, event: Event) -> Iterator[Finding]:
        """Report epoch loops that leave the sampler at epoch 0."""
        if not isinstance(event, LoopRun) or not event.loop.trains or event.loop.loader is None:
            return
        loader = event.loop.loader.host
        sampler = distributed(loader.sampler)
        around = [loop for loop in event.context.loops if loop not in loader.made]
        if sampler is None or not around or around[-1].form is not Form.LOOP or not shuffles(sampler):
            return
        if not self._told(sampler, around) and not framework_feeds(self.program):
            epochs = around[-1]
            sureness = Confidence.of(epochs.certain)
            yield self.finding(epochs.node, sureness, line=str(epochs.line), built=line(sampler.node, epochs.node))

    def _told(self, sampler: Instance, around: list[Loop]) -> bool:
        """Whether `set_epoch` is called in a loop around the training loop, on this sampler or what may lead to it."""
        calls = [call for loop in around for call in self._telling.get(loop, ())]
        return any(call.receiver is sampler or call.name == UNKNOWN_CALL for call in calls)

    @cached_property
    def _telling(self) -> dict[Loop, list[LibraryCall]]:
        """The calls of `set_epoch` in each loop."""
        found: dict[Loop, list[LibraryCall]] = defaultdict(list)
        for call in self.program.calls(f"{DISTRIBUTED}.set_epoch", UNKNOWN_CALL):
            for loop in call.context.loops:
                found[loop].append(call)
        return found


def shuffles(sampler: Instance) -> bool:
    """Whether a sampler's order changes from epoch to epoch at all."""
    return constant(setting(sampler, "shuffle")) is not False
