"""`xla-changing-shape`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import Changing
from xla_lint.rules.base import EVERYWHERE, Counter, Rule, Severity
from xla_lint.rules.shapes.changing import compiling_loop, sure, wording

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding


class ChangingShape(Rule):
    """A Python number that changes every step sets a shape.

    ## What it does
    Finds operations whose result takes its size from a Python number that differs from step to step: `x[:n]`,
    `arange(n)`, `view`, `pad`, `expand`, `repeat`, `topk(k=n)`. The finding stands at the expression.

    ## Why it matters
    A graph is compiled for exact shapes, so each new value compiles the step again. A length that only grows never
    repeats.

    ## What to write instead
    Keep the full size and let a tensor say how much of it counts:

    ```python
    keep = torch.arange(longest, device=device) < length  # length is a tensor on the device
    x = x.masked_fill(~keep, 0.0)
    ```

    Where sizes must differ, round them up to a few fixed ones.

    ## When it is fine
    A number that takes a few values costs one compilation for each, once. A loop inside one step, unrolled the same
    way every time, is one graph and is not reported. In a loop around step loops a number counts where none of these
    trains: each turn tries something out and evaluates it. An epoch's own number costs one compilation an epoch.

    ## On TorchTPU and TorchNeuron
    Each new size compiles anew every operation that it meets (documented by both).
    """

    symbol = "xla-changing-shape"
    number = "9725"
    severity = Severity.WARNING
    message = (
        "the Python number given to '%(spelled)s' changes every %(turns)s and sets a shape%(where)s: each new value"
        " %(cost)s; keep the size fixed and mask, with the length in a device tensor"
    )
    subscribes = (Changing,)
    modes = EVERYWHERE
    costs = (Counter.COMPILES,)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report shapes set by numbers that change between graphs."""
        if not isinstance(event, Changing) or not event.shape:
            return
        loop = compiling_loop(event, self.program)
        if loop is not None:
            yield self.finding(event.node, sure(event, loop), **wording(event, loop, self.program))
