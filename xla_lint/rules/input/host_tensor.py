"""`xla-host-tensor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.domain.events import Forward, LibraryCall, OptimizerStep, TableSent, Transfer
from xla_lint.program.domain.loops import Form
from xla_lint.program.domain.values import Location, Tensor
from xla_lint.program.queries import place_named
from xla_lint.rules.base import OUTSIDE_COMPILED, Confidence, Rule, Severity
from xla_lint.rules.wording import where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.contexts import Context
    from xla_lint.program.domain.events import Event
    from xla_lint.program.domain.loops import Loop
    from xla_lint.rules.base import Finding

DRAWING = frozenset({"torch.rand", "torch.randint", "torch.randn", "torch.normal"})


class HostTensor(Rule):
    """A tensor is built on the host in step code and then moved to the device.

    ## What it does
    Finds tensors made from nothing but numbers in step code (`torch.randn`, `torch.zeros`, `torch.arange` and the
    like, lists of constant numbers, and what is computed from them) that are moved to the device with `.to(device)`.
    So are tables of numbers, lists and arrays of numpy, that a module or a constructor holds and that step code makes
    tensors of, with `device=` or moved. The finding stands at the transfer.

    ## Why it matters
    Every step then transfers a whole tensor from the host, and the random numbers are drawn on the host. With
    `device=` the device computes the tensor as part of the step's graph, and nothing is transferred.

    ## What to write instead
    ```python
    noise = torch.randn(x.shape, device=x.device)
    ```

    What is the same in every step belongs before the loop.

    ## When it is fine
    The batch itself comes from the host, synthetic batches included: whatever a model may run on, and random numbers.
    A tensor that holds a host value which changes every step must travel anyway, and so must numbers drawn with a
    `torch.Generator` of the host.
    """

    symbol = "xla-host-tensor"
    number = "9758"
    severity = Severity.REFACTOR
    message = "%(what)s%(where)s%(then)s: a transfer every step that the device could spare; %(instead)s"
    subscribes = (Transfer, TableSent)
    modes = OUTSIDE_COMPILED

    def check(self, event: Event) -> Iterator[Finding]:
        """Report transfers of tensors that the step itself built on the host."""
        if isinstance(event, TableSent):
            yield from self._check_table(event)
        if not isinstance(event, Transfer) or not isinstance(event.value, Tensor) or event.place is not Location.DEVICE:
            return
        step = event.context.step
        if step is None or event.context.periodic or not within(event.value.made, step):
            return
        if self._has_batch(step, event.context) or not self.program.any_inside(step, may_be_fed):
            certain = event.certain and event.value.certain and step.certain
            sureness = Confidence.of(certain)
            yield self.finding(
                event.node,
                sureness,
                what="a tensor is built on the host",
                where=where(event.context),
                then=" and then moved",
                instead="build it with device=, or before the loop if it is the same in every step",
            )

    def _check_table(self, event: TableSent) -> Iterator[Finding]:
        """Report tables that become tensors of the device in every step."""
        step = event.context.step
        if step is not None and not event.context.periodic and within(event.loop, step):
            yield self.finding(
                event.node,
                Confidence.of(step.certain),
                what="a table of numbers is sent to the device",
                where=where(event.context),
                then="",
                instead="make the tensor once, before the loop, or keep it as a buffer of the model",
            )

    def _has_batch(self, step: Loop, context: Context) -> bool:
        """Whether the step gets its batch from elsewhere, or makes it on the device, so that this is not the batch."""
        if step.form is not Form.LOOP or step.loader is not None:
            return True
        return self.program.any_inside(step, brings) or self.program.any_inside(step, self._makes_on_device)

    def _makes_on_device(self, event: Event) -> bool:
        """Whether an event draws random numbers on the device, as a step does that is fed with a synthetic batch."""
        return (
            isinstance(event, LibraryCall)
            and event.name in DRAWING
            and place_named(event.kwargs.get("device"), self.program.backend) is Location.DEVICE
        )


def may_be_fed(event: Event) -> bool:
    """Whether an event shows that tensors made on the host may be batches: a model runs, or they are random numbers."""
    return isinstance(event, (Forward, OptimizerStep)) or (isinstance(event, LibraryCall) and event.name in DRAWING)


def brings(event: Event) -> bool:
    """Whether an event moves data to the device that the step did not build from numbers."""
    return (
        isinstance(event, Transfer)
        and isinstance(event.value, Tensor)
        and event.value.made is None
        and event.origin is not Location.DEVICE
    )


def within(loop: Loop | None, outer: Loop) -> bool:
    """Whether a loop is another one, or stands inside it."""
    while loop is not None:
        if loop is outer:
            return True
        loop = loop.parent
    return False
