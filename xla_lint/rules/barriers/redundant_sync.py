"""`xla-redundant-sync`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import Barrier
from xla_lint.rules.base import Rule, Severity
from xla_lint.rules.wording import confidence, where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding


class RedundantSync(Rule):
    """A barrier follows another one, with nothing recorded between them.

    ## What it does
    Finds barriers in step code that are reached with nothing pending, such as `torch_xla.sync()` after
    `xm.optimizer_step(optimizer, barrier=True)`. The finding stands at the later one.

    ## Why it matters
    It is cheap: a barrier with nothing pending neither compiles nor executes. It misleads the reader about where the
    step ends, and counters of barriers count it.

    ## What to write instead
    Keep one barrier, the one at the end of the step.

    ## When it is fine
    It costs nothing worth saving, so this is advice, off unless it is enabled.
    """

    symbol = "xla-redundant-sync"
    number = "9714"
    severity = Severity.ADVICE
    message = (
        "%(barrier)s has nothing to cut%(where)s, because a barrier came just before: it costs nothing, but misleads;"
        " remove it"
    )
    subscribes = (Barrier,)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report barriers with nothing pending."""
        if isinstance(event, Barrier) and event.redundant and event.context.step is not None:
            yield self.finding(event.node, confidence(event.context), barrier=event.spelled, where=where(event.context))
