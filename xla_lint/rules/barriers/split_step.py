"""`xla-split-step`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import SplitStep
from xla_lint.rules.base import Counter, Rule, Severity
from xla_lint.rules.wording import confidence, where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding


class SplitStepBarrier(Rule):
    """A barrier in the middle of a training step cuts it in two.

    ## What it does
    Finds barriers in step code that stand between the forward pass and `backward()`, or between `backward()` and the
    optimizer step of the same iteration. The finding stands at the barrier.

    ## Why it matters
    The step becomes two graphs and two executions. What the second needs, the gradients for example, has to be kept
    as outputs of the first, and the compiler cannot optimise across the cut.

    ## What to write instead
    One barrier, after the optimizer step:

    ```python
    loss.backward()
    xm.optimizer_step(optimizer)
    torch_xla.sync()
    ```

    ## When it is fine
    Where the whole step is too large for the compiler, it is cut on purpose; some Neuron samples do so. Say so in a
    comment and disable the message there. A barrier after a micro-step of gradient accumulation that runs no
    optimizer step is not reported.
    """

    symbol = "xla-split-step"
    number = "9713"
    severity = Severity.WARNING
    message = (
        "this barrier stands in the middle of a training step%(where)s; the step goes on in line %(line)s, so it is cut"
        " into two graphs, with two executions every step; move the barrier after the optimizer step"
    )
    subscribes = (SplitStep,)
    costs = (Counter.EXECUTIONS,)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report barriers that split a step."""
        if isinstance(event, SplitStep) and event.context.step is not None:
            yield self.finding(
                event.node, confidence(event.context), where=where(event.context), line=str(event.step_line)
            )
