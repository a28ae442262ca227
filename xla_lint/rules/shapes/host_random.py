"""`xla-host-random`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import HostChoice
from xla_lint.rules.base import GATHERED, Counter, Rule, Severity
from xla_lint.rules.wording import confidence, where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding


class HostRandom(Rule):
    """A random number drawn on the host decides what a step records.

    ## What it does
    Finds branches and loop counts in step code that depend on Python's or NumPy's random numbers, and choose between
    different operations on the device. The finding stands at the test.

    ## Why it matters
    Each outcome is a graph of its own, compiled when it first occurs. The outcomes of several tests in one step
    multiply: n coin flips make up to 2^n graphs, and new combinations keep turning up for a long time.

    ## What to write instead
    Draw on the device, and let the device choose:

    ```python
    keep = torch.rand((), device=x.device) >= drop
    x = torch.where(keep, layer(x), x)
    ```

    Both sides are then computed every step.

    ## When it is fine
    A random number used as data, such as a scale or a noise level, does not change the graph. Neither does random
    augmentation of host tensors.

    ## On TorchTPU and TorchNeuron
    It holds for TorchTPU with `DEFER_AND_FUSE`. Where operations run one by one, each is in the cache after its first
    time.
    """

    symbol = "xla-host-random"
    number = "9728"
    severity = Severity.WARNING
    message = (
        "a random number drawn on the host decides this %(spelled)s%(where)s: each outcome is a graph of its own,"
        " compiled when it first occurs; draw on the device, and choose with torch.where"
    )
    subscribes = (HostChoice,)
    modes = GATHERED
    costs = (Counter.COMPILES,)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report host-side choices in step code."""
        if not isinstance(event, HostChoice) or (event.ends is not None and event.ends.is_cut):
            return
        if event.context.step is not None and not event.context.closure:
            yield self.finding(event.node, confidence(event.context), spelled=event.spelled, where=where(event.context))
