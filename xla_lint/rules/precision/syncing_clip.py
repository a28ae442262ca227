"""`xla-syncing-clip`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.events import LibraryCall
from xla_lint.program.domain.values import Location
from xla_lint.program.queries import parameters_place
from xla_lint.rules.arguments import constant
from xla_lint.rules.base import OUTSIDE_COMPILED, Counter, Rule, Severity
from xla_lint.rules.wording import WAITS, confidence, where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding

FLAGS = {"torch.nn.utils.clip_grad_norm_": 3, "torch.nn.utils.clip_grad_norm": 3, "torch.nn.utils.get_total_norm": 2}
"""The functions with `error_if_nonfinite`, and its position (torch 2.9.1)."""


class SyncingClip(Rule):
    """Gradient clipping is asked to raise on a norm that is not finite: it reads the norm.

    ## What it does
    Finds `clip_grad_norm_` and `get_total_norm` with `error_if_nonfinite=True` on parameters that live on the device.
    The finding stands at the call.

    ## Why it matters
    To know whether to raise, the host must have the norm. The check reads twice, and each read executes the backward
    pass so far and throws the result away. Plain clipping stays on the device and costs no execution.

    ## What to write instead
    ```python
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    torch_xla.sync()
    if step % 100 == 0 and not math.isfinite(norm.item()):
        raise FloatingPointError(step)
    ```

    ## When it is fine
    For parameters on the host, and while hunting for a NaN. A norm that is read by hand is a read like any other:
    `xla-value-read` and its kin report it.

    ## On TorchTPU and TorchNeuron
    The host waits for the norm (by the source of PyTorch).
    """

    symbol = "xla-syncing-clip"
    number = "9735"
    severity = Severity.WARNING
    message = (
        "%(call)s(error_if_nonfinite=True) reads the norm on the host%(where)s: %(cost)s; drop the argument, and check"
        " the norm now and then%(after)s"
    )
    subscribes = (LibraryCall,)
    modes = OUTSIDE_COMPILED
    costs = (Counter.EXECUTIONS, Counter.READS)

    @classmethod
    def is_of_interest(cls, call: str) -> bool:
        """Clips that can check the norm."""
        return call in FLAGS

    def check(self, event: Event) -> Iterator[Finding]:
        """Report clips that check the norm of gradients on the device."""
        if not isinstance(event, LibraryCall) or not self._on_device(event):
            return
        if constant(event.argument(FLAGS[event.name], "error_if_nonfinite")) is True:
            yield self.finding(
                event.node,
                confidence(event.context),
                call=event.name.rpartition(".")[2],
                where=where(event.context),
                **self._price(event),
            )

    def _price(self, event: Event) -> dict[str, str]:
        if self.program.aim.is_lazy:
            after = f" after {self.program.barrier}" if self.program.backend.has(Role.BARRIER) else ""
            return {"cost": "two more executions and a stall every step", "after": after}
        return {"cost": WAITS[self.program.charge_of(event)], "after": ""}

    def _on_device(self, call: LibraryCall) -> bool:
        place = parameters_place(call.argument(0, "parameters"))
        step = call.context.step
        return place is Location.DEVICE or (place is Location.UNKNOWN and step is not None and step.backward)
