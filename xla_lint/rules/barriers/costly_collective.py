"""`xla-costly-collective`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend import spelled
from xla_lint.program.backend.backend import Role
from xla_lint.program.backend.torch_xla.names import HOST_REDUCE, RENDEZVOUS
from xla_lint.program.domain.events import LibraryCall
from xla_lint.rules.arguments import given
from xla_lint.rules.base import Counter, Rule, Severity
from xla_lint.rules.wording import confidence, where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding

OBJECTS = frozenset({"torch.distributed.gather_object", "torch.distributed.all_gather_object"})


class CostlyCollective(Rule):
    """A collective that goes through the host runs in every step.

    ## What it does
    Finds `xm.mesh_reduce`, `xm.rendezvous` with a payload, and `torch.distributed`'s `gather_object` and
    `all_gather_object` in step code. The finding stands at the call.

    ## Why it matters
    These exchange pickled Python objects. `xm.mesh_reduce` reads its tensors on the host, pickles them, and sends the
    bytes through a rendezvous with a payload, which itself cuts the graph several times and reads the other
    replicas' bytes back. All replicas wait for the slowest one. `all_gather_object` raises a RuntimeError with the
    `xla` process group; with another one it reads every tensor to pickle it.

    ## What to write instead
    Reduce on the device, inside the step's own graph:

    ```python
    mean = xm.all_reduce(xm.REDUCE_SUM, loss.detach(), scale=1.0 / world_size)
    ```

    Keep `xm.mesh_reduce` for once an epoch.

    ## When it is fine
    Outside step code, and every N steps. A rendezvous without a payload is cheaper and is not reported.
    """

    symbol = "xla-costly-collective"
    number = "9717"
    severity = Severity.WARNING
    message = (
        "%(call)s exchanges values through the host%(where)s: it %(cost)s every step; reduce on the device with"
        " %(instead)s, or call it once an epoch"
    )
    subscribes = (LibraryCall,)
    needs = (Role.COLLECTIVE,)
    costs = (Counter.EXECUTIONS, Counter.READS)

    @classmethod
    def is_of_interest(cls, call: str) -> bool:
        """Exchanges through the host."""
        return call in OBJECTS or call in RENDEZVOUS or call == HOST_REDUCE

    def check(self, event: Event) -> Iterator[Finding]:
        """Report host-side collectives in every step."""
        if not isinstance(event, LibraryCall) or event.context.step is None or event.context.periodic:
            return
        if event.name in OBJECTS:
            cost = "pickles its argument, which reads the tensors in it, and waits for all replicas"
        elif event.name == HOST_REDUCE or given(event.argument(RENDEZVOUS[event.name], "payload")):
            cost = "cuts the graph several times, reads values and waits for all replicas"
        else:
            return
        facts = {"call": spelled(event.name), "cost": cost, "instead": self.program.spell(Role.COLLECTIVE)}
        yield self.finding(event.node, confidence(event.context), where=where(event.context), **facts)
