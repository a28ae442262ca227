"""`xla-syncfree-without-scaler`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.backend import spelled
from xla_lint.program.backend.torch_xla.names import SCALER, SYNCFREE
from xla_lint.program.domain.events import LibraryCall
from xla_lint.program.queries import is_import
from xla_lint.rules.base import Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding

UNKNOWN_STEP = "?.step"


class SyncfreeWithoutScaler(Rule):
    """A syncfree optimizer is used without the scaler that makes it one.

    ## What it does
    Finds optimizers of `torch_xla.amp.syncfree` in a program that uses no `torch_xla.amp.GradScaler` and hands no
    `found_inf=` to `step()`. The finding stands at the optimizer. The rule is advice: it is off unless enabled.

    ## Why it matters
    A syncfree optimizer skips a step on the device where `found_inf` says so. Without `found_inf` its `step` calls
    the stock optimizer: counters and results are the same. The import only ties the script to releases that have it.

    ## What to write instead
    ```python
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    ```

    ## When it is fine
    With `torch_xla.amp.GradScaler` (until 2.8), or where the training step computes `found_inf` itself.
    """

    symbol = "xla-syncfree-without-scaler"
    number = "9788"
    severity = Severity.ADVICE
    message = (
        "%(what)s without a scaler that hands over found_inf is the stock optimizer: use torch.optim.%(name)s, or scale"
        f" the loss with {SCALER} where the release has it"
    )
    subscribes = (LibraryCall,)

    @classmethod
    def is_of_interest(cls, call: str) -> bool:
        """Syncfree optimizers."""
        return call.startswith(SYNCFREE)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report syncfree optimizers that nothing tells about overflows."""
        if not isinstance(event, LibraryCall) or event.receiver is not None:
            return
        if not self._hands_over(event.node.root()):
            name = event.name.removeprefix(SYNCFREE)
            yield self.finding(event.node, what=spelled(event.name), name=name)

    def _hands_over(self, module: nodes.Module) -> bool:
        """Whether something gives an optimizer `found_inf`, or may be a scaler that does."""
        known = {call.node: call for call in self.program.of(LibraryCall)}
        if any(hands_over(call) for call in known.values()):
            return True
        calls = module.nodes_of_class(nodes.Call)
        return any(steps_something(call) for call in calls if call not in known)


def steps_something(call: nodes.Call) -> bool:
    """Whether a call is one of `step` with an argument, on anything but an imported module."""
    function = call.func
    if not isinstance(function, nodes.Attribute) or function.attrname != "step" or not call.args:
        return False
    return not (isinstance(function.expr, nodes.Name) and is_import(function.expr))


def hands_over(call: LibraryCall) -> bool:
    """Whether a call makes a scaler, is one of `step` on what may be one, or states `found_inf`."""
    return call.name == SCALER or "found_inf" in call.kwargs or (call.name == UNKNOWN_STEP and bool(call.args))
