"""`xla-periodic-read`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend.backend import Role
from xla_lint.rules.base import GATHERED, Counter, Severity
from xla_lint.rules.reads.base import ReadRule
from xla_lint.rules.reads.selection import Cost, facts
from xla_lint.rules.wording import computed

if TYPE_CHECKING:
    from xla_lint.program.domain.events import Read


class PeriodicRead(ReadRule):
    """A device tensor is read every few steps.

    ## What it does
    Finds reads in step code (values, text and branches alike) under a test on a step counter, such as
    `if step % 100 == 0:`. The finding stands at the read.

    ## Why it matters
    It costs little, which is why this is a mild finding. The step that reads waits for the device. If the tensor is
    still pending there, the step is executed for the read and again at the barrier, and what the read needs is
    compiled as a second graph, once. With a short interval the cost is that of a read in every step.

    ## What to write instead
    Read after the barrier, so that all steps are the same graph:

    ```python
    torch_xla.sync()
    if step % 100 == 0:
        print(loss.item())
    ```

    A step closure does the same without moving the code: `xm.add_step_closure(report, args=(step, loss))`.

    ## When it is fine
    With an interval of many steps this is how values are meant to be reported.

    ## On TorchTPU and TorchNeuron
    TorchTPU with `DEFER_AND_FUSE` ends the fused group in the steps that read, and the host waits (documented). Where
    operations start by themselves, reading every N steps is the remedy, and nothing is said.
    """

    symbol = "xla-periodic-read"
    number = "9705"
    severity = Severity.REFACTOR
    message = "'%(what)s' %(are)s read by %(spelled)s every few steps%(where)s%(state)s; %(advice)s"
    costs = (Counter.COMPILES, Counter.EXECUTIONS)
    takes = Cost.PERIODIC
    modes = GATHERED

    def facts(self, read: Read) -> dict[str, str]:
        """What is read, where, and what to do about it."""
        if not self.program.aim.is_lazy:
            state = (
                f"{computed(read.tensor, read.context)}: the fused group ends there in those steps, and the host waits"
            )
            return {**facts(read), "state": state, "advice": "keep the interval long, or read once an epoch"}
        if not read.pending:
            state = ", after the barrier: those steps wait for the device"
            return {**facts(read), "state": state, "advice": "keep the interval long"}
        state = (
            f", while still pending{computed(read.tensor, read.context)}: those steps are executed once more and wait,"
            " and the read compiles a graph of its own"
        )
        advice = f"read it after {self.program.barrier}, or hand it to {self.program.spell(Role.STEP_CLOSURE)}"
        return {**facts(read), "state": state, "advice": advice}
