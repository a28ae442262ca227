"""`xla-accelerate-split-prepare`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import SplitPrepare
from xla_lint.program.queries import Domain
from xla_lint.rules.base import Rule, Severity
from xla_lint.rules.wording import line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding


class AccelerateSplitPrepare(Rule):
    """A model and its optimizer are prepared in separate calls.

    ## What it does
    Finds `accelerator.prepare` calls that get an optimizer whose model another call has prepared, or the other way
    round, where the optimizer was built first. The finding stands at the second call.

    ## Why it matters
    On XLA, moving a model to the device replaces its parameters. `prepare` points the optimizer at the new ones only
    where it gets both in one call. Otherwise the optimizer updates parameters that no one uses: training runs without
    an error and the weights never change.

    ## What to write instead
    ```python
    model, optimizer = accelerator.prepare(model, optimizer)
    ```

    Or build the optimizer after the model was prepared.

    ## When it is fine
    An optimizer built from the prepared model's parameters may be prepared in a call of its own. So may one whose
    model was on the device before the optimizer was built.
    """

    symbol = "xla-accelerate-split-prepare"
    number = "9783"
    severity = Severity.ERROR
    message = (
        "the optimizer of line %(built)s and its model are prepared in separate calls: it keeps the parameters that the"
        " model had before it moved, and the weights never change; prepare both in one call, or build the optimizer"
        " afterwards"
    )
    subscribes = (SplitPrepare,)
    domain = Domain.ACCELERATE

    def check(self, event: Event) -> Iterator[Finding]:
        """Report each such call."""
        if isinstance(event, SplitPrepare):
            yield self.finding(event.node, built=line(event.optimizer.node, event.node))
