"""`xla-closure-argument`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import StepClosure
from xla_lint.rules.base import Counter, Rule, Severity
from xla_lint.rules.wording import confidence, where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding


class ClosureArgument(Rule):
    """A step closure is given values where it should be given tensors.

    ## What it does
    Finds calls of `xm.add_step_closure` in whose `args` a value is read (`args=(loss.item(),)`, `float(loss)`), whose
    callback is the result of a call, or whose `args` is not a tuple. The finding stands at the call.

    A value that is read elsewhere and only handed over, in a statement before (`v = loss.item()`, then `args=(v,)`) or
    in a function that returns it, does not concern the closure: the read is reported where it stands, as
    `xla-value-read`.

    ## Why it matters
    Arguments are evaluated when the closure is registered, before the barrier. `args=(loss.item(),)` therefore runs
    the pending graph at once, and the barrier runs it again: the closure has saved nothing. The result of a call,
    as in `xm.add_step_closure(print(loss))`, reads at once as well, and then fails at the barrier because None is
    not callable. `args` is unpacked, so a single value without the comma of a tuple is not one argument.

    ## What to write instead
    Pass the tensor, in a tuple, and read it in the callback:

    ```python
    xm.add_step_closure(lambda loss: log(loss.item()), args=(loss,))
    ```

    ## When it is fine
    Python numbers that were never on the device, such as the step number, may stand in `args`.
    """

    symbol = "xla-closure-argument"
    number = "9706"
    severity = Severity.WARNING
    message = (
        "the step closure is given the wrong thing%(where)s: %(problem)s; pass the tensors themselves in a"
        " tuple, args=(loss,), and read them in the callback"
    )
    subscribes = (StepClosure,)
    costs = (Counter.EXECUTIONS,)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report closures with a problem."""
        if isinstance(event, StepClosure) and event.problem is not None:
            yield self.finding(event.node, confidence(event.context), where=where(event.context), problem=event.problem)
