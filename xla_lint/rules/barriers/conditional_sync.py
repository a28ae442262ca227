"""`xla-conditional-sync`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import LoopRun
from xla_lint.program.domain.loops import Cut, Form
from xla_lint.rules.base import Confidence, Rule, Severity
from xla_lint.rules.wording import line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.program.domain.loops import Loop
    from xla_lint.rules.base import Finding


class ConditionalSync(Rule):
    """The only barrier of a step loop stands under a test on the step counter.

    ## What it does
    Finds step loops whose every barrier is conditional, with at least one that runs every N steps, as in gradient
    accumulation. The finding stands at the barrier.

    ## Why it matters
    The steps between two barriers become one graph. Its size, its compile time and its memory grow with N, although
    the micro-steps are all alike and could share one small graph. A remainder at the end of the loop is a graph of
    yet another size.

    ## What to write instead
    Cut after every micro-step, and keep only the optimizer step under the test:

    ```python
    loss.backward()
    if (step + 1) % accumulate == 0:
        xm.optimizer_step(optimizer)
        optimizer.zero_grad()
    torch_xla.sync()
    ```

    Gradients are kept across barriers. The step with the optimizer and the step without are two graphs, each
    compiled once.

    ## When it is fine
    Where the step is so small that a barrier costs more than it saves, a few steps per graph are a sensible choice.
    A loop over the micro-steps of one step is not reported where the optimizer step and a barrier of its own follow,
    nor one without a model whose turns leave nothing to each other: what is overwritten is never executed.
    """

    symbol = "xla-conditional-sync"
    number = "9712"
    severity = Severity.REFACTOR
    message = (
        "%(barrier)s is the only barrier of the step loop of line %(line)s, and runs every few steps only: the steps"
        " between become one graph, whose compile time and memory grow with their number; call it after every step"
    )
    subscribes = (LoopRun,)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report the first periodic barrier of a loop that has no other kind."""
        if isinstance(event, LoopRun) and self._sometimes(event.loop):
            cut = next((cut for cut in event.loop.cuts if cut.periodic), None)
            if cut is not None:
                yield self.finding(
                    cut.node,
                    Confidence.of(event.loop.certain),
                    barrier=cut.spelled,
                    line=line(event.loop.node, cut.node),
                )

    def _sometimes(self, loop: Loop) -> bool:
        return (
            loop.form is Form.LOOP
            and loop.is_step
            and loop.cut is Cut.SOMETIMES
            and all(cut.conditional for cut in loop.cuts)
            and not loop.wrapped
            and not loop.opaque
            and not _ends_in_a_barrier(loop)
            and not _leaves_nothing(loop)
        )


def _leaves_nothing(loop: Loop) -> bool:
    """True where each turn computes something of its own: no model, training, total or change outlives it.

    What the next turn computes anew is never executed for the last one's sake: ten turns that overwrite one result
    leave the nodes of one (torch_xla 2.9.0).
    """
    return not (loop.carries or loop.changes) and not any(each.model or each.trains for each in (loop, *loop.inside()))


def _ends_in_a_barrier(loop: Loop) -> bool:
    """True for the micro-steps of the step around them, whose own barrier cuts the last of them."""
    around = loop.parent
    if around is None or loop.optimizer or not around.optimizer:
        return False
    return any(not cut.conditional for cut in around.cuts)
