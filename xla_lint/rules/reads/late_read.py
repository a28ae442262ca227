"""`xla-late-read`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.loops import Form
from xla_lint.program.domain.values import MATERIALISED
from xla_lint.rules.base import Counter, Severity
from xla_lint.rules.reads.base import ReadRule
from xla_lint.rules.reads.listing import LIST_LATER
from xla_lint.rules.reads.selection import COLLECT, Cost, facts

if TYPE_CHECKING:
    from xla_lint.program.domain.events import Read
    from xla_lint.program.domain.values import Tensor

EXECUTED = "after the barrier: nothing is executed again, but the host waits for the device"
HELD = "which executes nothing: the host waits for a transfer from the device"


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
    message = "'%(what)s' %(are)s read by %(spelled)s%(where)s, %(after)s every step; %(advice)s"
    costs = (Counter.READS,)
    takes = Cost.LATE
    needs = (Role.BARRIER,)
    fixes = (LIST_LATER,)

    def facts(self, read: Read) -> dict[str, str]:
        """What is read, where, and what to do about it."""
        step = read.context.step
        trains = step is None or step.form is not Form.LOOP or step.trains
        after = HELD if is_held(read.tensor) else EXECUTED
        advice = "read it every N steps, or once after the loop" if trains else COLLECT
        return {**facts(read), "after": after, "advice": advice}


def is_held(tensor: Tensor) -> bool:
    """Whether no operation in sight had to compute a tensor: it was sent, or is given; parameters change in steps."""
    return tensor.recorded_in == MATERIALISED and not tensor.origins
