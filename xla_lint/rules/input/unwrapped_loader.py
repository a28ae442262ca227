"""`xla-unwrapped-loader`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.events import LoopRun
from xla_lint.program.domain.loops import Form
from xla_lint.rules.base import Confidence, Rule, Severity
from xla_lint.rules.input.frameworks import framework_feeds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding


class UnwrappedLoader(Rule):
    """A step loop iterates a plain `DataLoader` and moves its batches by hand.

    ## What it does
    Finds step loops over a `DataLoader` whose body moves the batch to the device with `.to(device)`. The loader is
    followed to where it is built. The finding stands at the loop.

    ## Why it matters
    The transfer then starts only when the loop reaches it, and the host waits for the loader before each step.
    `MpDeviceLoader` loads and transfers the next batches in threads of its own while the device computes, and its
    `next()` is the barrier that each step needs.

    ## What to write instead
    ```python
    from torch_xla.distributed.parallel_loader import MpDeviceLoader

    for x, y in MpDeviceLoader(loader, device):
        ...
    ```

    Then drop the `.to(device)` calls and the barrier at the end of the step.

    ## When it is fine
    Where a part of the batch is there for the host, or a batch is changed there just before the step. A loop is not
    reported in which the host chooses by values of the batch (`if labels.any()`), or converts every step a part that
    is not moved (`.item()`, `.tolist()`, `.numpy()`, `int(...)`): on the device each of these would be a read. A part
    that is compared with values fetched from the device belongs there.
    Nor is a loop that only moves the batches, so that later steps find them on the device, or one whose loader
    Accelerate, Lightning or the Trainer of Transformers wrap.
    """

    symbol = "xla-unwrapped-loader"
    number = "9751"
    severity = Severity.REFACTOR
    message = (
        "the step loop of line %(line)s iterates the plain DataLoader of line %(built)s and moves each batch by hand:"
        " the device waits for the transfer; iterate %(instead)s(loader, device), which transfers ahead and cuts"
        " the graph"
    )
    subscribes = (LoopRun,)
    needs = (Role.LOADER,)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report step loops over a plain loader with transfers by hand."""
        if not isinstance(event, LoopRun):
            return
        loop, loader = event.loop, event.loop.loader
        if loader is None or loader.node is None or loader.wrapped or loop.form is not Form.LOOP:
            return
        if loop.moved and not loop.has_host_part and loop.is_step and not framework_feeds(self.program):
            sureness = Confidence.of(loop.certain)
            facts = {"built": str(loader.node.lineno), "instead": self.program.spell(Role.LOADER)}
            yield self.finding(event.node, sureness, line=str(loop.line), **facts)
