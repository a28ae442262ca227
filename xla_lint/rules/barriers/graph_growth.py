"""`xla-graph-growth`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import History
from xla_lint.rules.base import OUTSIDE_COMPILED, Rule, Severity
from xla_lint.rules.wording import confidence, where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding


class GraphGrowth(Rule):
    """A running total keeps the autograd history of every step.

    ## What it does
    Finds totals such as `total += loss` in step code whose values still carry their autograd history. The finding
    stands at the assignment.

    ## Why it matters
    The total refers to the loss of each step, and through it to that step's backward graph. Each step adds nodes to
    a chain that is not freed before the total is. The XLA graph does not grow from it: barriers still cut it, and
    the step is neither larger nor compiled again. What grows is the host's memory, and the work of whoever walks
    the chain.

    ## What to write instead
    Add the detached value, which stays on the device:

    ```python
    total += loss.detach()
    ```

    ## When it is fine
    Under `torch.no_grad()`, and for a sum of losses within one step on which `backward()` is called.
    """

    symbol = "xla-graph-growth"
    number = "9716"
    severity = Severity.REFACTOR
    message = (
        "'%(total)s' adds up values together with their autograd history%(where)s: the chain grows every step and is"
        " not freed; add the detached value, as in 'total += loss.detach()'"
    )
    subscribes = (History,)
    modes = OUTSIDE_COMPILED

    def check(self, event: Event) -> Iterator[Finding]:
        """Report totals that keep history across steps."""
        if isinstance(event, History) and event.loop.is_step and event.context.step is not None:
            yield self.finding(event.node, confidence(event.context), total=event.total, where=where(event.context))
