"""`xla-accelerate-placement`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.events import LibraryCall
from xla_lint.program.domain.values import Instance, Sequence
from xla_lint.program.queries import Domain
from xla_lint.rules.accelerate.evidence import ACCELERATOR, PREPARE
from xla_lint.rules.arguments import constant
from xla_lint.rules.base import Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.program.domain.values import Value
    from xla_lint.rules.base import Finding

MOVES = ("to", "cuda", "to_empty")


class AcceleratePlacement(Rule):
    """`device_placement=False`, and nothing moves the model by hand.

    ## What it does
    Finds `Accelerator(device_placement=False)` whose `prepare` gets a model, and `prepare(device_placement=[...])`
    that leaves a model where it is, in a program that never moves the model itself. The finding stands at the call.

    ## Why it matters
    The prepared loader still moves its batches to the device, while the model stays on the host. On XLA the first
    forward pass raises a RuntimeError: "Expected XLA tensor".

    ## What to write instead
    Leave `device_placement` at its default. Or move the model yourself, before the optimizer is built:

    ```python
    model.to(accelerator.device)
    optimizer = torch.optim.AdamW(model.parameters())
    ```

    ## When it is fine
    Where the program moves its models with `.to(...)`.
    """

    symbol = "xla-accelerate-placement"
    number = "9785"
    severity = Severity.ERROR
    message = (
        "device_placement=False leaves the model on the host while the prepared loader moves the batches: the first"
        " forward pass raises a RuntimeError on XLA; leave it out, or move the model to accelerator.device before the"
        " optimizer is built"
    )
    subscribes = (LibraryCall,)
    domain = Domain.ACCELERATE

    @classmethod
    def is_of_interest(cls, call: str) -> bool:
        """The `Accelerator` and what it prepares."""
        return call == ACCELERATOR or call in PREPARE

    def check(self, event: Event) -> Iterator[Finding]:
        """Report placements that are switched off for models that nothing moves."""
        if not isinstance(event, LibraryCall):
            return
        if event.name == ACCELERATOR:
            if constant(event.argument(0, "device_placement")) is False and self._left(event.node):
                yield self.finding(event.node)
        else:
            flags = event.kwargs.get("device_placement")
            items = flags.items if isinstance(flags, Sequence) and flags.items is not None else []
            left = [value for value, flag in zip(event.args, items, strict=False) if constant(flag) is False]
            if any(is_model(value) for value in left) and not self._moves:
                yield self.finding(event.node)

    def _left(self, accelerator: nodes.NodeNG) -> bool:
        """Whether a model is prepared by this `Accelerator` and nothing moves models."""
        prepared = (
            value
            for call in self.program.calls(*PREPARE)
            if isinstance(call.receiver, Instance) and call.receiver.node is accelerator
            for value in call.args
        )
        return any(is_model(value) for value in prepared) and not self._moves

    @cached_property
    def _moves(self) -> bool:
        """Whether the program moves a model, or something that may be one."""
        moves = self.program.calls_where(lambda name: name.rpartition(".")[2] in MOVES)
        return any(
            call.name.startswith("?") or (call.receiver is not None and is_model(call.receiver)) for call in moves
        )


def is_model(value: Value) -> bool:
    """True for a known model."""
    return isinstance(value, Instance) and value.model
