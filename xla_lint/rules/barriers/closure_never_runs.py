"""`xla-closure-never-runs`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import StepClosure
from xla_lint.rules.barriers.uncut import uncut
from xla_lint.rules.base import Rule, Severity
from xla_lint.rules.wording import confidence, where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding


class ClosureNeverRuns(Rule):
    """A step closure is registered in a loop that has no barrier to run it.

    ## What it does
    Finds `xm.add_step_closure` in step loops without any barrier, the loops that `xla-missing-sync` reports. The
    finding stands at the call.

    ## Why it matters
    Barriers run the closures that were registered before them. Without one the callbacks only pile up, each with its
    tensors. No line of the report appears, and there is no error. A barrier after the loop runs them all at once; if
    there is none, they never run.

    ## What to write instead
    End each step with a barrier:

    ```python
    xm.add_step_closure(report, args=(step, loss))
    torch_xla.sync()
    ```

    ## When it is fine
    Never.
    """

    symbol = "xla-closure-never-runs"
    number = "9715"
    severity = Severity.ERROR
    message = (
        "no barrier%(where)s runs this closure: without one after the loop the callback is never called, with one all"
        " calls come at the end; call %(barrier)s after every step"
    )
    subscribes = (StepClosure,)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report closures in loops without a barrier."""
        if isinstance(event, StepClosure) and event.context.step is not None and uncut(event.context.step):
            yield self.finding(
                event.node, confidence(event.context), where=where(event.context), barrier=self.program.barrier
            )
