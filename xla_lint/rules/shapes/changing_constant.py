"""`xla-changing-constant`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend.backend import Property
from xla_lint.program.domain.events import Changing
from xla_lint.rules.base import EVERYWHERE, Counter, Rule, Severity
from xla_lint.rules.shapes.changing import compiling_loop, sure, wording

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding


OFFSETS = ("[", "narrow", ".narrow", "select", ".select")
"""How the uses of a number are spelled that say where a view begins."""


class ChangingConstant(Rule):
    """A Python number that changes every step is built into the graph as a constant.

    ## What it does
    Finds operations that take a Python number which differs from step to step and make it part of the graph: an
    index (`x[i]`, `x[:, i] = v`), the start of a slice or of `narrow`, an exponent (`x ** n`), the shift of `roll`,
    the diagonal of `tril` and `triu`. The finding stands at the expression.

    ## Why it matters
    The constant is part of what the compiler sees, so each new value compiles the step again, even where all shapes
    stay the same. Most numbers are harmless: those added, multiplied, or given as a learning rate are sent to the
    device as data, apart from 0 and 1, which are built in.

    ## What to write instead
    Hold the index in a tensor on the device:

    ```python
    row = x.index_select(0, i)  # x[i]
    x = x.index_copy(0, i, v)  # x[i] = v
    ```

    `x[[i]]` with a Python list sends the index as data, too. A changing exponent becomes a
    tensor: `x ** torch.tensor(n, device=x.device)`.

    ## When it is fine
    A number that takes a few values costs one compilation for each, once. A loop inside one step, unrolled the same
    way every time, is one graph and is not reported. In a loop around step loops a number counts where none of these
    trains: each turn tries something out and evaluates it. An epoch's own number costs one compilation an epoch.

    ## On TorchTPU and TorchNeuron
    On TorchTPU where a view begins is part of what an operation is compiled for (read in the source), so an index or a
    slice that moves compiles anew. Numbers of arithmetic and of `fill_` travel as data (read in the source), and
    nothing is said of them.
    """

    symbol = "xla-changing-constant"
    number = "9726"
    severity = Severity.WARNING
    message = (
        "the Python number given to '%(spelled)s' changes every %(turns)s and is built into %(whole)s%(where)s: each"
        " new value %(cost)s; hold it in a device tensor (for an index: index_select, index_copy)"
    )
    subscribes = (Changing,)
    needs = (Property.KEEPS_OFFSETS,)
    modes = EVERYWHERE
    costs = (Counter.COMPILES,)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report constants that change between graphs."""
        if not isinstance(event, Changing) or event.shape or (loop := compiling_loop(event, self.program)) is None:
            return
        facts = wording(event, loop, self.program)
        if self.program.aim.is_lazy:
            yield self.finding(event.node, sure(event, loop), whole="the graph", **facts)
        elif event.spelled.startswith(OFFSETS):
            facts["cost"] = "compiles it again"
            yield self.finding(event.node, sure(event, loop), whole="the operation", **facts)
