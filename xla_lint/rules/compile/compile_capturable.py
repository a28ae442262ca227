"""`xla-compile-capturable`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend.backend import Mode, Property
from xla_lint.program.domain.events import LibraryCall, OptimizerStep
from xla_lint.program.domain.values import Location
from xla_lint.rules.arguments import constant
from xla_lint.rules.base import Confidence, Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding

COUNTING = frozenset(
    f"torch.optim.{name}"
    for name in ("Adadelta", "Adam", "AdamW", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop", "Rprop")
)
"""The optimizers with a step count on the CPU, and an argument that moves it to the device (torch 2.9.1)."""


class CompileCapturable(Rule):
    """An optimizer steps inside compiled code with its step count on the CPU.

    ## What it does
    Finds `Adadelta`, `Adam`, `AdamW`, `Adamax`, `ASGD`, `NAdam`, `RAdam`, `RMSprop` and `Rprop` of `torch.optim` that
    are built without `capturable=True` and whose `step()` runs in a function that is compiled for a TPU, or is
    compiled itself. The finding stands at the constructor.

    ## Why it matters
    The count of steps is a tensor on the CPU, and a TPU's graph takes no scalar of the host (reported by those who
    ported, and read in the source of PyTorch: Dynamo sets `capturable` by itself for CUDA and XPU alone, up to torch
    2.14). TorchTPU's documentation of spring 2026 asked for the argument; that of autumn leaves the section out.

    ## What to write instead
    ```python
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, capturable=True)
    ```

    Or `torch_tpu._internal.optim.AdamW`, which keeps its state on the device.

    ## When it is fine
    Where `step()` runs outside compiled code, beside a compiled model too: there the argument only costs time. `SGD`
    has no count. Neither are arguments looked at that come through `**kwargs`, nor optimizers with `fused=True`.
    """

    symbol = "xla-compile-capturable"
    number = "9776"
    severity = Severity.ERROR
    message = (
        "%(name)s keeps its step count on the CPU, and steps inside the code compiled on line %(line)s: a graph of the"
        " device takes no scalar of the host; pass capturable=True"
    )
    subscribes = (OptimizerStep,)
    needs = (Property.FIXED_SCALARS,)
    modes = frozenset({Mode.COMPILED})

    def check(self, event: Event) -> Iterator[Finding]:
        """Report optimizers whose count a compiled step needs."""
        if not isinstance(event, OptimizerStep) or event.optimizer.node is None:
            return
        compiled = event.context.compiled
        for made in self.program.at(event.optimizer.node):
            if not isinstance(made, LibraryCall) or made.name not in COUNTING or made.unpacked:
                continue
            asked = made.kwargs.get("capturable"), made.kwargs.get("fused")
            if all(value is None or constant(value) is False for value in asked):
                line = compiled.node.lineno if compiled is not None and compiled.node is not None else 0
                sure = Confidence.of(event.optimizer.place is Location.DEVICE)
                yield self.finding(made.node, sure, name=made.name.rpartition(".")[2], line=str(line))
