"""`xla-tensor-branch`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import How
from xla_lint.rules.base import OUTSIDE_COMPILED, Counter, Severity
from xla_lint.rules.reads.base import ReadRule
from xla_lint.rules.reads.selection import Cost, pending_facts

if TYPE_CHECKING:
    from xla_lint.program.domain.events import Read


class TensorBranch(ReadRule):
    """Control flow in step code needs the value of a pending tensor.

    ## What it does
    Finds tests that run every step and depend on a tensor's value: `if`, `while`, `assert`, `not`, `and`, `or`, the
    conditional expression, the `if` of a comprehension, and `in`. The finding stands at the test.

    ## Why it matters
    Python can only branch on a value that the host has. The test runs the pending graph and waits, and the barrier
    runs the step again. `tensor in a_list` does so for each element that it compares. A comparison such as
    `loss > 1` is an operation of its own: after a barrier it is pending again and is executed. And what is recorded
    on each side of the branch is a graph of its own.

    ## What to write instead
    Let the device choose:

    ```python
    loss = torch.where(torch.isfinite(loss), loss, torch.zeros_like(loss))
    ```

    Where Python has to decide, read the value once after the barrier and test the number:
    `value = loss.item()`, then `if value > 1:`. Better still, test every N steps.

    ## When it is fine
    `is None`, `isinstance`, and tests of shapes, dtypes and devices need no value. Neither does a Python flag.

    ## On TorchTPU and TorchNeuron
    Nothing is executed again: the host waits for the device (documented by both), and where TorchTPU fuses, the fused
    group ends there. In compiled code it is `xla-graph-break`.
    """

    symbol = "xla-tensor-branch"
    number = "9703"
    severity = Severity.WARNING
    message = "'%(what)s' %(are)s tested by %(spelled)s while %(state)s,%(where)s: %(cost)s; %(advice)s"
    costs = (Counter.EXECUTIONS, Counter.READS)
    takes = Cost.FULL
    modes = OUTSIDE_COMPILED
    how = How.BRANCH

    def facts(self, read: Read) -> dict[str, str]:
        """What is read, where, and what to do about it."""
        return pending_facts(read, self.program)
