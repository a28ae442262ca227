"""`xla-unreduced-gradients`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.events import OptimizerStep
from xla_lint.program.queries import origins_held
from xla_lint.rules.base import EVERYWHERE, Rule, Severity
from xla_lint.rules.precision.replicas import reduces_elsewhere
from xla_lint.rules.wording import confidence, where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding


class UnreducedGradients(Rule):
    """Replicas step their optimizers without having reduced the gradients.

    ## What it does
    Finds `optimizer.step()` in code that several replicas run (reached from `torch_xla.launch`, `xmp.spawn` or
    `_mp_fn`), where no path from the backward pass reduces the gradients. The finding stands at the step. It needs the
    model's construction in sight, since the wrapper that reduces may stand there.

    ## Why it matters
    Each replica has its own model and sees its own share of the data. Without a reduction each trains alone: the
    replicas drift apart, every one has learned from a fraction of the data, and the master's model is what gets saved.
    No error is raised.

    ## What to write instead
    ```python
    loss.backward()
    xm.optimizer_step(optimizer)
    ```

    It averages the gradients over the replicas and then steps. To do something in between, such as clipping, call
    `xm.reduce_gradients(optimizer)` first and `optimizer.step()` last.

    ## When it is fine
    `DistributedDataParallel`, FSDP, SPMD, Accelerate and Lightning reduce by themselves; so do programs that all-reduce
    the gradients or average the parameters. Replicas that train different models on purpose need no reduction: disable
    the message there.
    """

    symbol = "xla-unreduced-gradients"
    number = "9736"
    severity = Severity.ERROR
    message = (
        "this step uses gradients that were not reduced over the replicas%(where)s: each replica trains alone, and they"
        " drift apart; %(instead)s"
    )
    subscribes = (OptimizerStep,)
    modes = EVERYWHERE

    def check(self, event: Event) -> Iterator[Finding]:
        """Report steps of one replica among several with its own gradients."""
        if not isinstance(event, OptimizerStep) or event.reduced or not event.context.replicated:
            return
        origins = origins_held(event.optimizer)
        if origins and all(origin.model.node is not None for origin in origins) and not self.handled:
            yield self.finding(
                event.node, confidence(event.context), where=where(event.context), instead=self._instead()
            )

    def _instead(self) -> str:
        spell = self.program.spell
        if self.program.backend.has(Role.OPTIMIZER_STEP, Role.REDUCE_GRADIENTS):
            return f"call {spell(Role.OPTIMIZER_STEP)}, or {spell(Role.REDUCE_GRADIENTS)} before the step"
        return "wrap the model in DistributedDataParallel, or all-reduce the gradients before the step"

    @cached_property
    def handled(self) -> bool:
        """Whether something else takes care of the gradients."""
        return reduces_elsewhere(self.program)
