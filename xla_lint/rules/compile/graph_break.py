"""`xla-graph-break`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend.backend import Mode
from xla_lint.program.domain.events import Backward, GraphBreak, How, OptimizerStep, Read
from xla_lint.rules.arguments import constant
from xla_lint.rules.base import Confidence, Rule, Severity
from xla_lint.rules.wording import confidence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from astroid import nodes

    from xla_lint.program.domain.events import Event
    from xla_lint.program.queries import Program
    from xla_lint.rules.base import Finding

TRACED = frozenset({".cpu()", ".to()", "cpu", "copy into a host tensor", "f-string", "%", "str.format"})
"""Reads that a graph can hold, and texts that nobody need print: they are traced (torch 2.9.1)."""
CONSTANT = "and the number is a constant of what follows, compiled anew for every value up to eight times"


class GraphBreakRule(Rule):
    """Something in compiled code cannot be traced: the graph is broken there.

    ## What it does
    Finds, in functions and models that `torch.compile` compiles for a TPU or for Trainium and in the project's own
    functions that they call,

    - `print`, logging calls (of a level that is off too), `warnings.warn`, and clocks such as `time.time()`;
    - `.item()`, `.tolist()`, `float()`, `int()`, `bool()` of a device tensor;
    - `if`, `while`, `and`, `or`, `not` on the value of one;
    - the context managers of torch_tpu, such as `torch.tpu.precision`, with which the whole function runs eagerly;
    - with `fullgraph=True` also `backward()` and the `step()` of an optimizer.

    The finding stands at the expression, one for each line.

    ## Why it matters
    The graph ends there without a message: what comes before and what follows become two, and the host waits between
    them. A number that is brought back so is a constant of the part that follows, which is compiled anew for every
    value, eight times, and then runs eagerly. With `fullgraph=True` it is an error instead. (Seen on torch 2.9.1:
    `TORCH_LOGS=graph_breaks` and `torch._dynamo.explain` show each break; both backends document it.)

    ## What to write instead
    Move it out of the function, and return the tensor:

    ```python
    @torch.compile(backend="tpu", dynamic=False)
    def step(x):
        loss = model(x).mean()
        return torch.where(torch.isfinite(loss), loss, torch.zeros_like(loss))
    ```

    ## When it is fine
    `torch.where`, an `assert` on a tensor, tests of shapes and of `self.training`, an f-string that nobody prints, and
    code under `if not torch.compiler.is_compiling()` or in a function under `torch.compiler.disable`.
    """

    symbol = "xla-graph-break"
    number = "9777"
    severity = Severity.WARNING
    message = "'%(what)s' %(breaks)s; %(instead)s"
    subscribes = (Read, GraphBreak, Backward, OptimizerStep)
    modes = frozenset({Mode.COMPILED})

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self._told: set[tuple[nodes.NodeNG, int]] = set()

    def check(self, event: Event) -> Iterator[Finding]:
        """Report the first break of each line."""
        whole = self._is_whole(event)
        what = self._what(event, whole)
        place = event.node.root(), int(event.node.lineno or 0)
        if what is None or place in self._told:
            return
        self._told.add(place)
        sure = confidence(event.context, event.tensor) if isinstance(event, Read) else Confidence.HIGH
        yield self.finding(event.node, sure, what=what, breaks=breaks(event, whole), instead=instead(event))

    def _is_whole(self, event: Event) -> bool:
        compiled = event.context.compiled
        return compiled is not None and constant(compiled.keywords.get("fullgraph")) is True

    def _what(self, event: Event, whole: bool) -> str | None:
        if isinstance(event, GraphBreak):
            return event.spelled
        if isinstance(event, Read):
            return None if event.spelled in TRACED else f"{event.spelled} of {event.what}"
        if isinstance(event, Backward):
            return "backward()" if whole else None
        return "step()" if whole else None


def breaks(event: Event, whole: bool) -> str:
    """What a break does."""
    if whole:
        return "cannot be traced, and under fullgraph=True that is an error"
    if isinstance(event, GraphBreak) and event.effect:
        return f"breaks the compiled graph: {event.effect}"
    value = f", {CONSTANT}" if isinstance(event, Read) and event.how is How.VALUE else ""
    return f"breaks the compiled graph: it becomes two, and the host waits between them{value}"


def instead(event: Event) -> str:
    """What to do about a break."""
    if isinstance(event, Read):
        if event.how is How.BRANCH:
            return "choose with torch.where"
        return "keep it on the device, and return the tensor"
    return "move it out of the compiled function"
