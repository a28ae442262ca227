"""`xla-late-read`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend.backend import Role
from xla_lint.rules.base import Counter, Severity
from xla_lint.rules.reads.base import ReadRule
from xla_lint.rules.reads.selection import Cost, facts

if TYPE_CHECKING:
    from xla_lint.program.domain.events import Read


class LateRead(ReadRule):
    """A materialised tensor is read in every step.

    ## What it does
    Finds reads in step code (values, text and branches alike) of a tensor that a barrier or an earlier transfer has
    materialised. The finding stands at the read.

    ## Why it matters
    Nothing is executed again: the value is fetched, and that is all. But the barrier only starts the execution and
    returns, and the read waits until it has finished. Host and device then take turns instead of overlapping.

    ## What to write instead
    Read every N steps, or collect on the device and read once after the loop:

    ```python
    losses.append(loss.detach())
    ...
    mean = torch.stack(losses).mean().item()
    ```

    Reading the loss of the step before, at the top of the next step, waits for less. A step closure with
    `run_async=True` waits on another thread.

    ## When it is fine
    In small loops, in loops that the host leads anyway (it chooses the next input by the value), and where the step
    is so long that the wait does not count.
    """

    symbol = "xla-late-read"
    number = "9704"
    severity = Severity.REFACTOR
    message = (
        "'%(what)s' is read by %(spelled)s%(where)s, after the barrier: nothing is executed again, but the host waits"
        " for the device every step; read it every N steps, or once after the loop"
    )
    costs = (Counter.READS,)
    takes = Cost.LATE
    needs = (Role.BARRIER,)

    def facts(self, read: Read) -> dict[str, str]:
        """What is read, where, and what to do about it."""
        return facts(read)
