"""`xla-missing-zero-grad`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.events import GradientSet, LibraryCall, LoopRun, OptimizerStep
from xla_lint.program.domain.loops import Form
from xla_lint.program.domain.values import Instance, Tensor
from xla_lint.program.queries import origins_held, parts_of
from xla_lint.rules.base import EVERYWHERE, Confidence, Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding


class MissingZeroGrad(Rule):
    """A training loop steps an optimizer and never zeroes the gradients.

    ## What it does
    Finds loops with a backward pass and an optimizer step, in which `zero_grad()` is called neither on that optimizer
    nor on its model. Calls are followed. The finding stands at the loop. The rule is advice: it is off unless
    enabled.

    ## Why it matters
    `backward()` adds to the gradients that are there. Without `zero_grad` each step uses the sum of all gradients
    since the beginning, so the steps grow and training diverges or stalls.

    ## What to write instead
    ```python
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        xm.optimizer_step(optimizer)
    ```

    ## When it is fine
    Gradients that are set to None or zeroed by hand, and gradients that `torch.autograd.grad` returns, are no
    reason for a finding. Neither is a loop with calls that cannot be followed.
    """

    symbol = "xla-missing-zero-grad"
    number = "9787"
    severity = Severity.ADVICE
    message = (
        "the training loop of line %(line)s steps an optimizer and never zeroes its gradients: each step uses the sum"
        " of all steps before; call optimizer.zero_grad() in every step"
    )
    subscribes = (LoopRun,)
    modes = EVERYWHERE

    def check(self, event: Event) -> Iterator[Finding]:
        """Report training loops without `zero_grad`."""
        if not isinstance(event, LoopRun):
            return
        loop = event.loop
        if loop.form is not Form.LOOP or not loop.optimizer or loop.opaque:
            return
        if not loop.backward and not any(inner.backward for inner in loop.inside()):
            return
        inside = self.program.inside(loop)
        steps = [e for e in inside if isinstance(e, OptimizerStep) and e.context.loops[-1] is loop]
        cleared = [e for e in inside if clears(e)]
        if not cleared or any(not any(clears_for(c, step.optimizer) for c in cleared) for step in steps):
            yield self.finding(event.node, Confidence.of(loop.certain), line=str(loop.line))


def clears(event: Event) -> bool:
    """Whether an event sets gradients to zero, or by hand to something."""
    if isinstance(event, GradientSet):
        return True
    if not isinstance(event, LibraryCall):
        return False
    name = event.name.rpartition(".")[2]
    if name == "zero_" and isinstance(event.receiver, Tensor):
        source = event.node.func.as_string() if isinstance(event.node, nodes.Call) else ""
        return ".grad" in source or any(origin.gradient for origin in event.receiver.origins)
    return name in ("zero_grad", "_foreach_zero_")


def clears_for(event: Event, optimizer: Instance) -> bool:
    """Whether what clears gradients may clear those that an optimizer steps with."""
    receiver = event.receiver if isinstance(event, LibraryCall) else None
    if not isinstance(receiver, Instance) or receiver.node is None or optimizer.node is None:
        return True
    if not receiver.model:
        return receiver.node is optimizer.node
    models = {origin.model for origin in origins_held(optimizer)}
    known = bool(models) and all(model.node is not None for model in models)
    return not known or not models.isdisjoint(parts_of(receiver))
