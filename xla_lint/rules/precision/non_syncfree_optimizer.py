"""`xla-non-syncfree-optimizer`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend.backend import Role
from xla_lint.program.backend.torch_xla.names import SCALER, SYNCFREE, SYNCFREE_TWINS
from xla_lint.program.domain.events import LibraryCall
from xla_lint.program.domain.values import UNKNOWN, Instance, options
from xla_lint.rules.base import Rule, Severity
from xla_lint.rules.wording import confidence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding

STEP = SCALER + ".step"


class NonSyncfreeOptimizer(Rule):
    """An ordinary optimizer is stepped by torch_xla's gradient scaler.

    ## What it does
    Finds `torch.optim.SGD`, `Adam` and `AdamW` whose step goes through a `torch_xla.amp.GradScaler`. The finding stands
    at the optimizer.

    ## Why it matters
    Before each step the scaler must know whether a gradient overflowed. An ordinary optimizer makes it read that answer
    on the host: one more execution of the whole step, and a stall. The optimizers of `torch_xla.amp.syncfree` take the
    answer as a tensor and decide on the device.

    ## What to write instead
    ```python
    from torch_xla.amp import syncfree

    optimizer = syncfree.AdamW(model.parameters(), lr=1e-3)
    ```

    Or train in bfloat16, which needs no scaler. torch_xla 2.9 has dropped its scaler altogether.

    ## When it is fine
    Without a scaler, ordinary optimizers are right: a syncfree one is then the stock optimizer under another name. With
    the scaler of `torch.amp` a syncfree optimizer does not help, see `xla-foreign-grad-scaler`.
    """

    symbol = "xla-non-syncfree-optimizer"
    number = "9731"
    severity = Severity.WARNING
    message = (
        f"{SCALER} steps this optimizer on line %(line)s and must read on the host whether gradients"
        f" overflowed: one more execution and a stall every step; use {SYNCFREE}%(name)s"
    )
    subscribes = (LibraryCall,)
    needs = (Role.OPTIMIZERS,)

    @classmethod
    def is_of_interest(cls, call: str) -> bool:
        """Steps by torch_xla's scaler."""
        return call == STEP

    def check(self, event: Event) -> Iterator[Finding]:
        """Report the optimizers that the scaler steps."""
        if not isinstance(event, LibraryCall):
            return
        for optimizer in options(event.argument(0, "optimizer") or UNKNOWN):
            if isinstance(optimizer, Instance) and optimizer.node is not None and optimizer.library in SYNCFREE_TWINS:
                yield self.finding(
                    optimizer.node,
                    confidence(event.context),
                    line=str(event.node.lineno),
                    name=SYNCFREE_TWINS[optimizer.library],
                ).costing_at([event.node])
