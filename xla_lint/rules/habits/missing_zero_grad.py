"""`xla-missing-zero-grad`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.events import LibraryCall, LoopRun
from xla_lint.program.loops import Form
from xla_lint.rules.base import Confidence, Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.events import Event
    from xla_lint.program.loops import Loop
    from xla_lint.rules.base import Finding


class MissingZeroGrad(Rule):
    """A training loop steps an optimizer and never zeroes the gradients.

    ## What it does
    Finds loops with a backward pass and an optimizer step, in which `zero_grad()` is called neither on the optimizer
    nor on the model. Calls are followed. The finding stands at the loop. The rule is advice: it is off unless
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
    listens = (LoopRun,)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report training loops without `zero_grad`."""
        if not isinstance(event, LoopRun):
            return
        loop = event.loop
        if loop.form is not Form.LOOP or not loop.optimizer or loop.opaque:
            return
        if not loop.backward and not any(inner.backward for inner in loop.inside()):
            return
        if not self._zeroes(loop) and not self._zeroes_out_of_sight():
            yield self.finding(event.node, Confidence.HIGH if loop.sure else Confidence.INFERENCE, line=str(loop.line))

    def _zeroes(self, loop: Loop) -> bool:
        """Whether a call inside the loop, or around its turns, zeroes gradients."""
        return any(loop in call.context.loops for call in self._calls())

    def _calls(self) -> Iterator[LibraryCall]:
        return (e for e in self.program.events if isinstance(e, LibraryCall) and e.name.endswith(".zero_grad"))

    def _zeroes_out_of_sight(self) -> bool:
        """Whether gradients are zeroed by hand, or by a call on something that is not known."""
        known = {call.node for call in self._calls()}
        for node in self.program.module.nodes_of_class((nodes.Call, nodes.AssignAttr, nodes.Attribute)):
            if isinstance(node, nodes.AssignAttr) and node.attrname == "grad":
                return True
            if isinstance(node, nodes.Attribute) and node.attrname == "zero_" and ".grad" in node.as_string():
                return True
            if isinstance(node, nodes.Call) and node not in known and called(node) == "zero_grad":
                return True
        return False


def called(call: nodes.Call) -> str:
    """The name of the method that is called, empty for a function."""
    return call.func.attrname if isinstance(call.func, nodes.Attribute) else ""
