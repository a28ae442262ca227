"""`xla-clip-before-reduce`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.events import ClippedEarly
from xla_lint.rules.accelerate.evidence import ACCELERATOR
from xla_lint.rules.base import EVERYWHERE, Confidence, Rule, Severity
from xla_lint.rules.precision.replicas import reduces_beside
from xla_lint.rules.wording import confidence, line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding

BY_ACCELERATE = "call accelerator.clip_grad_norm_, which reduces first"


class ClipBeforeReduce(Rule):
    """Gradients are clipped or unscaled before they are reduced over the replicas.

    ## What it does
    Finds `clip_grad_norm_`, `clip_grad_value_` and a scaler's `unscale_` that run after the backward pass and before
    `xm.optimizer_step`, `xm.reduce_gradients` or an all-reduce of the gradients, in code that several replicas run, and
    before the `step()` of an optimizer that Accelerate prepared, which reduces (accelerate 1.15). The finding stands at
    the clip.

    ## Why it matters
    Each replica clips its own gradients by its own norm. The mean of clipped gradients is not the clipped mean: the
    limit holds for no step that is really taken, and with more replicas the result differs more. A scaler's `unscale_`
    looks for infinities: before the reduction each replica finds its own, and they may disagree about skipping the
    step. Nothing is slower, and nothing fails. (By reading the source of torch_xla 2.9.0: `xm.optimizer_step` reduces,
    then steps.)

    ## What to write instead
    ```python
    loss.backward()
    xm.reduce_gradients(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    ```

    With Accelerate: `accelerator.clip_grad_norm_(model.parameters(), 1.0)`, which reduces first.

    ## When it is fine
    With one process there is nothing to reduce. `DistributedDataParallel` has reduced the gradients when `backward()`
    returns. FSDP's own `clip_grad_norm_` computes the norm over all shards.
    """

    symbol = "xla-clip-before-reduce"
    number = "9737"
    severity = Severity.WARNING
    message = (
        "%(spelled)s works on the gradients of one replica, and %(reduction)s on line %(line)s reduces them afterwards:"
        " the limit holds for no step that is taken; %(instead)s"
    )
    subscribes = (ClippedEarly,)
    modes = EVERYWHERE

    def check(self, event: Event) -> Iterator[Finding]:
        """Report clips of gradients that are reduced later."""
        if not isinstance(event, ClippedEarly):
            return
        if event.prepared:
            sureness, instead, wrong = Confidence.INFERENCE, BY_ACCELERATE, not self.sharded
        else:
            sureness, instead = confidence(event.context), self._by_hand()
            wrong = event.context.replicated and not self.handled
        if wrong:
            yield self.finding(
                event.node,
                sureness,
                spelled=event.spelled,
                reduction=event.reduction,
                line=line(event.reduced_at, event.node),
                instead=instead,
            )

    def _by_hand(self) -> str:
        has_own = self.program.backend.has(Role.REDUCE_GRADIENTS)
        first = f"call {self.program.spell(Role.REDUCE_GRADIENTS)}" if has_own else "reduce the gradients"
        return f"{first} first, then clip, then optimizer.step()"

    @cached_property
    def sharded(self) -> bool:
        """Whether an `Accelerator` is given a plugin, which may shard the parameters and reduce in its own way."""
        given = (name for call in self.program.calls(ACCELERATOR) for name in call.kwargs)
        return any(name.endswith("_plugin") for name in given)

    @cached_property
    def handled(self) -> bool:
        """Whether the gradients are reduced by something else already."""
        return reduces_beside(self.program)
