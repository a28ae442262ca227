"""`xla-value-read`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import How
from xla_lint.rules.base import OUTSIDE_COMPILED, Counter, Severity
from xla_lint.rules.reads.adding import COUNT_LATER, SUM_LATER
from xla_lint.rules.reads.base import ReadRule
from xla_lint.rules.reads.listing import LIST_LATER
from xla_lint.rules.reads.moving import READ_LATER, REPORT_LATER
from xla_lint.rules.reads.selection import Cost, pending_facts

if TYPE_CHECKING:
    from xla_lint.program.domain.events import Read


class ValueRead(ReadRule):
    """A pending tensor's value is fetched in step code.

    ## What it does
    Finds places that run every step and ask the host for the value of a tensor computed since the last barrier:
    `.item()`, `.tolist()`, `.cpu()`, `.to("cpu")`, `float()`, `int()`, `bool()`, the functions of `math`, a tensor
    as `range` limit or list index, `torch.equal`, `torch.allclose`, and Python's `max`, `min`, `sorted`, `any` and
    `all` over tensors, and what adds a tensor to one of the host in place (`total += loss` after
    `total = torch.zeros(1)`). The finding stands at the read. Where the read is inside a helper, the message names the
    calls that lead to it.

    ## Why it matters
    A lazy tensor has no value until its graph runs. The read runs what is pending, and the host waits for it.
    `.item()`, `float()` and their like then throw the execution away: the next barrier runs the same work again, and
    a second `.item()` of the same pending tensor runs it once more. `.cpu()` and `.tolist()` keep the tensor that
    they read, but not the others of the step, so the barrier still runs the step. Recording the next step overlaps
    with the device only while nobody reads.

    ## What to write instead
    Keep the value on the device and read it after the barrier:

    ```python
    total += loss.detach()
    torch_xla.sync()
    ```

    Or let the barrier hand it over: `xm.add_step_closure(report, args=(step, loss))`. An operation on a
    materialised tensor is pending again, so do the arithmetic before the barrier, or on the number.

    ## When it is fine
    Host tensors, and questions that need no value (`.shape`, `.size()`, `len()`, `.dtype`, `.device`) are never
    reported. Neither is a read after the loop, or of an argument inside a step closure's callback. A read every
    N steps is `xla-periodic-read`, a read after the barrier `xla-late-read`.

    ## On TorchTPU and TorchNeuron
    Nothing is executed again: the host waits for the device (documented by both), and where TorchTPU fuses, the fused
    group ends there (documented). So every N steps or once an epoch is the remedy, and there is no barrier to wait for.
    In compiled code it is `xla-graph-break`.
    """

    symbol = "xla-value-read"
    number = "9701"
    severity = Severity.WARNING
    message = "'%(what)s' %(are)s read by %(spelled)s while %(state)s,%(where)s: %(cost)s; %(advice)s"
    costs = (Counter.EXECUTIONS,)
    takes = Cost.FULL
    modes = OUTSIDE_COMPILED
    fixes = (READ_LATER, REPORT_LATER, SUM_LATER, COUNT_LATER, LIST_LATER)
    how = How.VALUE

    def facts(self, read: Read) -> dict[str, str]:
        """What is read, where, and what to do about it."""
        return pending_facts(read, self.program)
