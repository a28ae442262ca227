"""`xla-growing-tensor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import Growing
from xla_lint.rules.base import EVERYWHERE, Counter, Rule, Severity
from xla_lint.rules.shapes.changing import executes
from xla_lint.rules.wording import NEW_SIZE, confidence, where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding


class GrowingTensor(Rule):
    """A tensor is concatenated onto itself in every step.

    ## What it does
    Finds assignments such as `x = torch.cat([x, new])` in step loops. The finding stands at the assignment.

    ## Why it matters
    Each step has a longer tensor than the one before, so each step is a new graph that has to be compiled. This is
    the usual way of a key-value cache or of a list of predictions.

    ## What to write instead
    Allocate the full size before the loop, and write into it at a position that the device knows:

    ```python
    cache = cache.index_copy(1, position, new)
    ```

    Results that are only collected go into a Python list, and become a tensor with `torch.cat` after the loop.

    ## When it is fine
    Inside one step, where the loop is unrolled into the same graph every time.

    ## On TorchTPU and TorchNeuron
    Each new size compiles anew every operation that it meets (documented by both; 10,000 compilations for 55 tokens
    were reported).
    """

    symbol = "xla-growing-tensor"
    number = "9727"
    severity = Severity.WARNING
    message = (
        "'%(what)s' grows by concatenation%(where)s: every step has a new shape, which %(cost)s; write into a"
        " tensor of full size with index_copy, or collect in a Python list and concatenate after the loop"
    )
    subscribes = (Growing,)
    modes = EVERYWHERE
    costs = (Counter.COMPILES,)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report growth from one graph to the next."""
        if isinstance(event, Growing) and executes(event.loop, self.program):
            facts = {"what": event.what, "cost": NEW_SIZE[self.program.mode_of(event)]}
            yield self.finding(event.node, confidence(event.context), where=where(event.context), **facts)
