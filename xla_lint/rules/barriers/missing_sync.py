"""`xla-missing-sync`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.events import Barrier, LoopRun
from xla_lint.rules.barriers.uncut import uncut
from xla_lint.rules.base import Confidence, Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from astroid import nodes

    from xla_lint.program.domain.events import Event
    from xla_lint.program.domain.loops import Loop
    from xla_lint.rules.base import Finding


class MissingSync(Rule):
    """A step loop has no barrier: all its steps become one graph.

    ## What it does
    Finds loops that train or run a model on the device and pass no barrier on any path. Barriers are
    `torch_xla.sync`, `xm.mark_step`, `torch_xla.step`, functions under `torch_xla.compile`,
    `xm.optimizer_step(barrier=True)`, and the `next()` of `MpDeviceLoader`. Plain `xm.optimizer_step(optimizer)` is
    not one. Calls are followed, so the barrier may stand in a helper. The finding stands at the loop.

    ## Why it matters
    Nothing runs while the loop records. The graph grows by the whole step each time, and whatever asks for a value
    first compiles all of it at once. The compile time grows faster than the number of steps, and the values of all
    steps share the device's memory. With another number of steps everything is compiled again.

    ## What to write instead
    End each step with a barrier:

    ```python
    for x, y in batches:
        ...
        xm.optimizer_step(optimizer)
        torch_xla.sync()
    ```

    Or iterate an `MpDeviceLoader`, which cuts the graph before it hands out the next batch.

    ## When it is fine
    A short loop that is meant to be one graph, such as a fixed number of solver iterations, is not a step loop: write
    the barrier after it. Loops whose loader is wrapped elsewhere, prepared by Accelerate, or run by a framework's
    trainer are not reported.
    """

    symbol = "xla-missing-sync"
    number = "9711"
    severity = Severity.WARNING
    message = (
        "the step loop of line %(line)s has no barrier on any path: all its steps become one ever-growing graph,"
        " compiled as a whole when a value is first needed; call %(barrier)s at the end of each step, or iterate an"
        " %(loader)s"
    )
    subscribes = (LoopRun,)
    needs = (
        Role.BARRIER,
        Role.LOADER,
    )

    def check(self, event: Event) -> Iterator[Finding]:
        """Report step loops without any barrier."""
        if isinstance(event, LoopRun) and uncut(event.loop) and not self._one_graph(event.loop):
            sureness = Confidence.of(event.loop.certain)
            yield self.finding(
                event.node,
                sureness,
                line=str(event.loop.line),
                barrier=self.program.barrier,
                loader=self.program.spell(Role.LOADER),
            )

    def _one_graph(self, loop: Loop) -> bool:
        """Whether a loop is meant to be one graph: it is short, it does not train, and a barrier comes right after."""
        return not loop.trains and loop.short and following(loop.node) in self._barriers

    @cached_property
    def _barriers(self) -> set[nodes.NodeNG]:
        return {event.node.statement() for event in self.program.of(Barrier)}


def following(node: nodes.NodeNG) -> nodes.NodeNG | None:
    """The statement after a node's own."""
    found: nodes.NodeNG | None = node.next_sibling()  # type: ignore[no-untyped-call]
    return found
