"""`xla-foreign-grad-scaler`."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from xla_lint.program.backend.backend import Role
from xla_lint.program.backend.torch_xla.names import LAST_SCALER
from xla_lint.program.backend.torch_xla.names import SCALER as OWN_SCALER
from xla_lint.program.domain.events import LibraryCall
from xla_lint.program.domain.values import UNKNOWN, Instance, Location, options
from xla_lint.program.domain.walk import tensors_in
from xla_lint.program.queries import is_optimizer, setting
from xla_lint.rules.arguments import constant
from xla_lint.rules.base import Counter, Rule, Severity
from xla_lint.rules.wording import confidence, lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from astroid import nodes

    from xla_lint.program.domain.events import Event
    from xla_lint.program.domain.values import Value
    from xla_lint.rules.base import Finding

SCALER = "torch.amp.GradScaler."
STEP = SCALER + "step"


class ForeignGradScaler(Rule):
    """A gradient scaler of `torch.amp` or `torch.cuda.amp` works on XLA tensors.

    ## What it does
    Finds `torch.amp.GradScaler` and `torch.cuda.amp.GradScaler`, for whatever device, that scale a loss on the device
    or step an optimizer whose parameters live there. The finding stands at the scaler.

    ## Why it matters
    Such a scaler decides on the host whether to step: it reads whether gradients overflowed, which executes the whole
    step once more and stalls, in every step. A syncfree optimizer does not avoid that.

    ## What to write instead
    bfloat16 has the range of float32 and needs no scaler:

    ```python
    with torch.autocast("xla", dtype=torch.bfloat16):
        loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    ```

    For float16 on a GPU with torch_xla up to 2.8 there is `torch_xla.amp.GradScaler`, together with an optimizer of
    `torch_xla.amp.syncfree`.

    ## When it is fine
    A scaler made with `enabled=False` does nothing, and one that only ever sees host tensors reads nothing from the
    device.
    """

    symbol = "xla-foreign-grad-scaler"
    number = "9732"
    severity = Severity.WARNING
    message = (
        "this gradient scaler reads on the host whether gradients on the device overflowed%(where)s: one more"
        " execution and a stall every step; %(instead)s"
    )
    subscribes = (LibraryCall,)
    needs = (Role.AUTOCAST,)
    costs = (Counter.EXECUTIONS, Counter.READS)

    @classmethod
    def is_of_interest(cls, call: str) -> bool:
        """The methods of torch's own scaler."""
        return call.startswith(SCALER)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report scalers that are given something on the device."""
        if not isinstance(event, LibraryCall):
            return
        scaler = event.receiver
        if not isinstance(scaler, Instance) or scaler.node is None:
            return
        if constant(setting(scaler, "enabled")) is False or not _on_device(event.argument(0, "") or UNKNOWN):
            return
        cost_shows_at = self.steps.get(scaler.node, ())
        old = self.program.target <= LAST_SCALER
        yield self.finding(
            scaler.node,
            confidence(event.context),
            where=lines(cost_shows_at, scaler.node.root()),
            instead=f"use {OWN_SCALER} with a syncfree optimizer, or bfloat16 without a scaler"
            if old
            else f"use {self.program.spell(Role.AUTOCAST)}, which needs no scaler",
        ).costing_at(cost_shows_at)

    @cached_property
    def steps(self) -> dict[nodes.NodeNG, list[nodes.NodeNG]]:
        """Where each scaler steps an optimizer, by the node that makes the scaler."""
        found: dict[nodes.NodeNG, list[nodes.NodeNG]] = defaultdict(list)
        for call in self.program.calls(STEP):
            if isinstance(call.receiver, Instance) and call.receiver.node is not None:
                found[call.receiver.node].append(call.node)
        return found


def _on_device(value: Value) -> bool:
    if any(tensor.place is Location.DEVICE for tensor in tensors_in(value, 2)):
        return True
    return any(isinstance(o, Instance) and is_optimizer(o) and o.place is Location.DEVICE for o in options(value))
