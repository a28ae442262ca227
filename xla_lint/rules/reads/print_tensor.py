"""`xla-print-tensor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import How
from xla_lint.rules.base import OUTSIDE_COMPILED, Counter, Severity
from xla_lint.rules.reads.base import ReadRule
from xla_lint.rules.reads.moving import READ_LATER, REPORT_LATER
from xla_lint.rules.reads.selection import Cost, pending_facts

if TYPE_CHECKING:
    from xla_lint.program.domain.events import Read


class PrintTensor(ReadRule):
    """A pending tensor is turned into text in step code.

    ## What it does
    Finds places that run every step and format a tensor computed since the last barrier: `print`, f-strings, `%`,
    `str.format`, `str`, `repr`, logging calls, a progress bar's `set_postfix`, TensorBoard's `add_scalar`,
    `wandb.log`, and Lightning's `self.log(..., prog_bar=True)`. The finding stands at the call.

    ## Why it matters
    Formatting needs the value, so the pending graph runs at once and the host waits for it; the barrier then runs
    the step again. `print`, `str` and `"%s"` keep the value of the one tensor that they format. An f-string of a
    single-element tensor does not: each one runs the graph anew.

    An f-string is built before the logger looks at its level: `logger.debug(f"{loss}")` reads even where nothing is
    logged.

    ## What to write instead
    Hand the tensor to a step closure, which runs after the barrier:

    ```python
    xm.add_step_closure(report, args=(step, loss))
    ```

    Or print after the barrier, every N steps. In logging calls pass the tensor as an argument, as in
    `logger.debug("loss %s", loss)`: a call below the logger's level then reads nothing.

    ## When it is fine
    Python numbers, shapes, dtypes and devices cost nothing. A lazy logging call is not reported while its level is
    off. The root logger stays at WARNING even after `logging.basicConfig(level=logging.INFO)`, because importing
    torch_xla leaves a handler there and `basicConfig` then changes nothing. A tensor printed every N steps is
    `xla-periodic-read`, one printed after the barrier `xla-late-read`.

    ## On TorchTPU and TorchNeuron
    Nothing is executed again: the host waits for the device (documented by both), and where TorchTPU fuses, the fused
    group ends there. `logging.basicConfig` works as usual there. In compiled code it is `xla-graph-break`.
    """

    symbol = "xla-print-tensor"
    number = "9702"
    severity = Severity.WARNING
    message = "'%(what)s' %(are)s formatted by %(spelled)s while %(state)s,%(where)s: %(cost)s; %(advice)s"
    costs = (Counter.EXECUTIONS,)
    takes = Cost.FULL
    modes = OUTSIDE_COMPILED
    fixes = (READ_LATER, REPORT_LATER)
    how = How.FORMAT

    def facts(self, read: Read) -> dict[str, str]:
        """What is read, where, and what to do about it."""
        return pending_facts(read, self.program)
