"""`xla-redundant-transfer`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import Transfer
from xla_lint.program.domain.loops import Form
from xla_lint.program.domain.values import MATERIALISED, Location, Tensor
from xla_lint.rules.base import Confidence, Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding


class RedundantTransfer(Rule):
    """`.to(device)` on what is on the device already.

    ## What it does
    Finds `.to(device)` in a step loop on a tensor that is on the device already, such as a batch of
    `MpDeviceLoader` or of a loader that Accelerate prepared, and on a model that Accelerate prepared. The finding
    stands at the call. The rule is advice: it is off unless enabled.

    ## Why it matters
    The call does nothing. It hides where the transfer really happens, and with another device than the loader's it
    becomes a second transfer in every step.

    ## What to write instead
    Use the batch as the loader gives it.

    ## When it is fine
    In code that serves plain loaders too: where one call moves host tensors as well, nothing is reported. Neither is
    a call that changes the dtype.
    """

    symbol = "xla-redundant-transfer"
    number = "9757"
    severity = Severity.ADVICE
    message = "%(what)s is on the device already: .to() does nothing here; remove it"
    subscribes = (Transfer,)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report transfers from the device to the device."""
        if not isinstance(event, Transfer) or not stays(event):
            return
        if all(stays(other) for other in self.program.at(event.node) if isinstance(other, Transfer)):
            what = "this batch" if isinstance(event.value, Tensor) else "the prepared model"
            yield self.finding(event.node, Confidence.of(event.certain), what=what)


def stays(transfer: Transfer) -> bool:
    """Whether a transfer is one from the device to the device, of a batch or a prepared model."""
    if transfer.place is not Location.DEVICE or transfer.origin is not Location.DEVICE or transfer.cast:
        return False
    if not isinstance(transfer.value, Tensor):
        return transfer.value.prepared
    step = transfer.context.step
    return step is not None and step.form is Form.LOOP and step.wrapped and transfer.value.recorded_in == MATERIALISED
