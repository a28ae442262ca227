"""`xla-accelerate-backward`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.events import Backward, LibraryCall
from xla_lint.program.domain.values import Location
from xla_lint.program.project.scope import Domain
from xla_lint.rules.accelerate.evidence import ACCELERATOR, accelerated, shows
from xla_lint.rules.base import Confidence, Rule, Severity
from xla_lint.rules.calls import calls, calls_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding


class AccelerateBackward(Rule):
    """`loss.backward()` in a loop that runs under an `Accelerator`.

    ## What it does
    Finds `backward()` called on a loss in a loop whose model, loader or optimizer an `Accelerator` has prepared. The
    finding stands at the call.

    ## Why it matters
    `accelerator.backward` divides the loss by the number of accumulation steps, and scales it under fp16. Without
    it, the gradients of N accumulated micro-batches are N times too large, and the first fp16 step fails with an
    AssertionError, because the scaler was never used.

    ## What to write instead
    ```python
    accelerator.backward(loss)
    ```

    ## When it is fine
    Under bf16 or fp32 without accumulation both do the same. The loop then breaks as soon as a setting changes. A
    branch that runs without an `Accelerator`, beside one that uses it, is not reported. Neither is a loop that
    accumulates by a step counter of its own, without `accelerator.accumulate`.
    """

    symbol = "xla-accelerate-backward"
    number = "9781"
    severity = Severity.ERROR
    message = (
        "backward() bypasses the Accelerator: gradients of accumulated steps are too large, and fp16 fails; call"
        " accelerator.backward(loss)"
    )
    subscribes = (Backward,)
    domain = Domain.ACCELERATE

    def check(self, event: Event) -> Iterator[Finding]:
        """Report backward passes around the `Accelerator`."""
        if not isinstance(event, Backward) or not self._uses:
            return
        if event.loss is not None and event.loss.place is Location.HOST:
            return
        if event.node in self._through or has_alternative(event.node, self._through) or self._accumulates(event):
            return
        if accelerated(self.program, event.context):
            yield self.finding(event.node, Confidence.HIGH if event.loss is not None else Confidence.INFERENCE)

    @cached_property
    def _uses(self) -> bool:
        """Whether the program uses an `Accelerator` at all."""
        return any(map(shows, self.program.events))

    @cached_property
    def _through(self) -> set[nodes.NodeNG]:
        """The backward passes that go through an `Accelerator`."""
        return {call.node for call in calls_of(self.program, f"{ACCELERATOR}.backward")}

    def _accumulates(self, event: Backward) -> bool:
        """Whether the loop accumulates gradients by a step counter of its own."""
        loop = event.context.loops[-1] if event.context.loops else None
        steps = (
            call
            for call in (self.program.inside(loop) if loop is not None else ())
            if isinstance(call, LibraryCall) and call.name.startswith("torch.optim.") and call.name.endswith(".step")
        )
        own = any(call.context.periodic for call in steps)
        return own and not calls(self.program, f"{ACCELERATOR}.accumulate")


def has_alternative(node: nodes.NodeNG, wanted: set[nodes.NodeNG]) -> bool:
    """Whether another branch of a test around a call does what is wanted."""
    inner, outer = node, node.parent
    while outer is not None and not isinstance(outer, nodes.FunctionDef):
        if isinstance(outer, nodes.If):
            other = outer.orelse if inner in outer.body else outer.body
            if any(call in wanted for item in other for call in item.nodes_of_class(nodes.Call)):
                return True
        inner, outer = outer, outer.parent
    return False
