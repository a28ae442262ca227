"""`xla-costly-collective`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend import spelled
from xla_lint.program.backend.backend import Role
from xla_lint.program.backend.torch_xla.names import HOST_REDUCE, RENDEZVOUS, RENDEZVOUS_GATHERS
from xla_lint.program.domain.events import LibraryCall
from xla_lint.rules.arguments import given
from xla_lint.rules.base import Counter, Rule, Severity
from xla_lint.rules.wording import confidence, where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding

OBJECTS = frozenset({"torch.distributed.gather_object", "torch.distributed.all_gather_object"})
MEETINGS = frozenset(
    f"accelerate.{owner}.wait_for_everyone" for owner in ("Accelerator", "PartialState", "state.PartialState", "utils")
)
"""A rendezvous in other words: in a program for XLA, Accelerate calls `xm.rendezvous` (accelerate 1.15)."""
BY_DEVICE = "reduce on the device with {}, or call it once an epoch"
RARELY = "call it once an epoch: a barrier cuts the graph without it"


class CostlyCollective(Rule):
    """A collective that goes through the host runs in every step.

    ## What it does
    Finds `xm.mesh_reduce`, `xm.rendezvous`, `torch.distributed`'s `gather_object` and `all_gather_object`, and
    Accelerate's `wait_for_everyone`, which is a rendezvous, in step code. The finding stands at the call.

    ## Why it matters
    These exchange pickled Python objects. `xm.mesh_reduce` reads its tensors on the host, pickles them, and sends the
    bytes through a rendezvous with a payload, which itself cuts the graph several times and reads the other
    replicas' bytes back. All replicas wait for the slowest one. `all_gather_object` raises a RuntimeError with the
    `xla` process group; with another one it reads every tensor to pickle it. A rendezvous without a payload
    is a barrier too, gathers the lengths of the payloads in a graph of its own, and reads the greatest: one execution
    and one read for each call (torch_xla 2.9.0, one replica).

    ## What to write instead
    Reduce on the device, inside the step's own graph:

    ```python
    mean = xm.all_reduce(xm.REDUCE_SUM, loss.detach(), scale=1.0 / world_size)
    ```

    Keep `xm.mesh_reduce` for once an epoch.

    ## When it is fine
    Outside step code, and every N steps. A rendezvous without a payload is not reported where a test may keep it from
    most steps, as before a checkpoint, nor up to torch_xla 2.0, where replicas met on the host alone.
    """

    symbol = "xla-costly-collective"
    number = "9717"
    severity = Severity.WARNING
    message = "%(call)s goes through the host%(where)s: it %(cost)s every step; %(instead)s"
    subscribes = (LibraryCall,)
    needs = (Role.COLLECTIVE,)
    costs = (Counter.EXECUTIONS, Counter.READS)

    @classmethod
    def is_of_interest(cls, call: str) -> bool:
        """Exchanges through the host."""
        return call in OBJECTS or call in MEETINGS or call in RENDEZVOUS or call == HOST_REDUCE

    def check(self, event: Event) -> Iterator[Finding]:
        """Report host-side collectives in every step."""
        if not isinstance(event, LibraryCall) or event.context.step is None or event.context.periodic:
            return
        by_device = BY_DEVICE.format(self.program.spell(Role.COLLECTIVE))
        if event.name in OBJECTS:
            cost = "pickles its argument, which reads the tensors in it, and waits for all replicas"
            instead = by_device
        elif event.name == HOST_REDUCE or (
            event.name in RENDEZVOUS and given(event.argument(RENDEZVOUS[event.name], "payload"))
        ):
            cost, instead = "cuts the graph several times, reads values and waits for all replicas", by_device
        elif self.program.target >= RENDEZVOUS_GATHERS and event.context.every_turn:
            cost, instead = "cuts the graph, executes one of its own, reads a value and waits for all replicas", RARELY
        else:
            return
        call = spelled(event.name)
        yield self.finding(
            event.node,
            confidence(event.context),
            call=call,
            where=where(event.context),
            cost=cost,
            instead=instead,
        )
