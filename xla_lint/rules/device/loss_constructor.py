"""`xla-loss-constructor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.domain.events import LibraryCall
from xla_lint.program.domain.values import Instance, Tensor, options
from xla_lint.rules.base import EVERYWHERE, Confidence, Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.program.domain.values import Value
    from xla_lint.rules.base import Finding

MODULES = "torch.nn."
LOSSES = "Loss"
WEIGHTED = frozenset(
    {"NLLLoss", "NLLLoss2d", "CrossEntropyLoss", "BCELoss", "BCEWithLogitsLoss", "MultiLabelSoftMarginLoss"}
)
"""Loss modules whose first parameter is a tensor of weights (torch 2.9.1)."""
INPUTS = frozenset({"input", "target", "input1", "input2"})
"""Parameters of a loss module's `forward`, never of its constructor."""


class LossConstructor(Rule):
    """A loss module's constructor is given the tensors that its call should get.

    ## What it does
    Finds loss modules of `torch.nn` that are constructed with a prediction and a target, as in
    `nn.NLLLoss(output, target)`, and constructed losses on which `backward()` is called.

    ## Why it matters
    The constructor takes options: the tensors become `weight` and `size_average`, and the truth of `size_average` is
    asked for. With more than one element that is a `RuntimeError`; with one element it is a read from the device, and
    the result is a module without `backward`. SageMaker's guide for the Training Compiler spells a loss like this.

    ## What to write instead
    ```python
    loss = nn.functional.nll_loss(output, target)
    loss = nn.NLLLoss()(output, target)
    ```

    ## When it is fine
    Class weights belong in the constructor: `nn.CrossEntropyLoss(weight)` with one tensor is not reported.
    """

    symbol = "xla-loss-constructor"
    number = "9770"
    severity = Severity.ERROR
    message = (
        "'%(loss)s' is constructed with the tensors it should be called with; write %(loss)s()(input, target), or use"
        " the function of torch.nn.functional"
    )
    subscribes = (LibraryCall,)
    modes = EVERYWHERE

    @classmethod
    def is_of_interest(cls, call: str) -> bool:
        """Loss modules and their methods."""
        return call.startswith(MODULES) and call.removeprefix(MODULES).partition(".")[0].endswith(LOSSES)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report loss modules whose constructor gets tensors."""
        if not isinstance(event, LibraryCall):
            return
        loss, _, method = event.name.removeprefix(MODULES).partition(".")
        made = event.receiver.node if isinstance(event.receiver, Instance) else None
        if not method and gets_tensors(loss, event):
            yield self.finding(event.node, loss=loss)
        elif method == "backward" and isinstance(made, nodes.Call) and made.args:
            yield self.finding(made, Confidence.INFERENCE, loss=loss)


def gets_tensors(loss: str, call: LibraryCall) -> bool:
    """Whether a constructor is given tensors where it takes none."""
    first = 1 if loss in WEIGHTED else 0
    misplaced = [*call.args[first:], *(value for name, value in call.kwargs.items() if name in INPUTS)]
    return any(is_tensor(value) for value in misplaced)


def is_tensor(value: Value) -> bool:
    """Whether a value is a tensor, on every path that led here."""
    return all(isinstance(option, Tensor) for option in options(value))
