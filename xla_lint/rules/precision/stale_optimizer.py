"""`xla-stale-optimizer`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.fixes.changes import Fix, MoveAhead, Span
from xla_lint.program.backend.backend import Property
from xla_lint.program.domain.events import Outdated
from xla_lint.rules.base import EVERYWHERE, Confidence, Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding


MOVE_FIRST = Fix("move the model before the optimizer is built, which then trains it", safe=False)


class StaleOptimizer(Rule):
    """An optimizer is built before its model moves to the device: it updates parameters that nobody uses.

    ## What it does
    Finds optimizers that are stepped, returned or kept although `model.to(device)` has replaced their parameters
    since. The model and the optimizer are followed through functions, factories, lists of parameters, parameter groups
    and attributes of objects. A model that is moved to the CPU and back, say for a checkpoint, counts as well. The
    finding stands at the optimizer.

    ## Why it matters
    On a GPU, `.to` moves the data inside the same parameters. A host tensor cannot become an XLA tensor that way, so
    on XLA `.to` makes new parameters. The optimizer keeps the old ones, whose gradients stay empty. Nothing is updated
    and nothing complains: the loss just does not fall. Loading a state with `load_state_dict` does not help either,
    because it leaves the list of parameters as it is (tried on torch_xla 2.9.0).

    ## What to write instead
    ```python
    model = Net().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    ```

    ## When it is fine
    An optimizer that is built anew after the move, one that is never stepped, and a model that stays on the host are
    not reported. Accelerate's `prepare` hands the new parameters to the optimizers that it is given with the model.

    ## On TorchTPU and TorchNeuron
    TorchTPU replaces the parameters too: PyTorch keeps them only for devices that it lists, or that register a check,
    and TorchTPU does neither (read in the source; a small device of our own shows it in `tests/proof`). TorchNeuron
    registers it, so that an optimizer built before the move stays right, and nothing is said.
    """

    symbol = "xla-stale-optimizer"
    number = "9738"
    severity = Severity.ERROR
    message = (
        "this optimizer holds the parameters that its model had before the move of line %(moved)s; on %(device)s the"
        " move replaces them, so the optimizer updates parameters that nobody uses and nothing trains; build it after"
        " the move"
    )
    subscribes = (Outdated,)
    needs = (Property.REPLACES_PARAMETERS,)
    modes = EVERYWHERE
    fixes = (MOVE_FIRST,)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report optimizers that outlive their parameters."""
        if isinstance(event, Outdated):
            sureness = Confidence.of(event.certain)
            ahead = MoveAhead(event.moved, Span.of(event.node.statement()))
            finding = self.finding(event.node, sureness, moved=str(event.moved), device=self.program.backend.title)
            yield finding.repaired_by(MOVE_FIRST, ahead)
