"""`xla-accelerate-backward`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.fixes.changes import Fix, PassTo, Span
from xla_lint.program.domain.events import Backward, LibraryCall
from xla_lint.program.domain.values import Location
from xla_lint.program.queries import Domain, calls_in_other_branches
from xla_lint.rules.accelerate.evidence import ACCELERATOR, accelerated, shows
from xla_lint.rules.base import Confidence, Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding


THROUGH = Fix("call the backward() of the Accelerator: accumulated gradients are scaled", safe=False)


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
    fixes = (THROUGH,)
    domain = Domain.ACCELERATE

    def check(self, event: Event) -> Iterator[Finding]:
        """Report backward passes around the `Accelerator`."""
        if not isinstance(event, Backward) or not self._uses:
            return
        if event.loss is not None and event.loss.place is Location.HOST:
            return
        beside = (event.node, *calls_in_other_branches(event.node))
        if not self._through.isdisjoint(beside) or self._accumulates(event):
            return
        if accelerated(self.program, event.context):
            found = self.finding(event.node, Confidence.of(event.loss is not None))
            owner = self._accelerator_at(event.node)
            yield found.repaired_by(THROUGH, PassTo(Span.of(event.node), f"{owner}.backward") if owner else None)

    def _accelerator_at(self, node: nodes.NodeNG) -> str | None:
        """How the function around a node, or its module, calls the `Accelerator`."""
        if not isinstance(node, nodes.Call) or not isinstance(node.func, nodes.Attribute) or is_scaled(node.func.expr):
            return None
        seen = (node.scope(), node.root())
        calls = (event.node for event in self.program.events if isinstance(event, LibraryCall) and uses(event))
        owners = [
            call.func.expr for call in calls if isinstance(call, nodes.Call) and isinstance(call.func, nodes.Attribute)
        ]
        return next((owner.as_string() for scope in seen for owner in owners if owner.scope() is scope), None)

    @cached_property
    def _uses(self) -> bool:
        """Whether the program uses an `Accelerator` at all."""
        return any(map(shows, self.program.events))

    @cached_property
    def _through(self) -> set[nodes.NodeNG]:
        """The backward passes that go through an `Accelerator`."""
        return {call.node for call in self.program.calls(f"{ACCELERATOR}.backward")}

    def _accumulates(self, event: Backward) -> bool:
        """Whether the loop accumulates gradients by a step counter of its own."""
        if not event.context.loops or self.program.has_call(f"{ACCELERATOR}.accumulate"):
            return False
        return self.program.any_inside(event.context.loops[-1], steps_now_and_then)


def uses(call: LibraryCall) -> bool:
    """Whether a call is one of a method of an `Accelerator`."""
    return call.name.startswith(f"{ACCELERATOR}.")


def is_scaled(loss: nodes.NodeNG) -> bool:
    """Whether a loss is what a gradient scaler has made of it."""
    return isinstance(loss, nodes.Call) and isinstance(loss.func, nodes.Attribute) and loss.func.attrname == "scale"


def steps_now_and_then(event: Event) -> bool:
    """Whether an event is the step of an optimizer or a schedule, every few turns only."""
    if not isinstance(event, LibraryCall) or not event.context.periodic:
        return False
    return event.name.startswith("torch.optim.") and event.name.endswith(".step")
