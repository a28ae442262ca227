"""`xla-rank-divergence`."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from xla_lint.program.backend.torch_xla.names import LAST_WAITING_SAVE
from xla_lint.program.domain.events import Collective, LibraryCall, Parting, Read, Save
from xla_lint.program.domain.values import Location
from xla_lint.rules.accelerate.evidence import ACCELERATOR
from xla_lint.rules.base import EVERYWHERE, GATHERED, Confidence, Rule, Severity
from xla_lint.rules.checkpoints.guarded import OWN_SAVES, WHY, anchor, dividing, paired
from xla_lint.rules.reads.library_calls import LOGS, is_synchronised
from xla_lint.rules.reads.selection import on_some_replicas

if TYPE_CHECKING:
    from collections.abc import Iterator

    from astroid import nodes

    from xla_lint.program.domain.events import Event
    from xla_lint.program.queries import Version
    from xla_lint.rules.base import Finding
WAITS = "the replicas that do not come here leave the others waiting"
CUTS = "it cuts the graph of some replicas only, and waits for the others as soon as a collective is pending"


class RankDivergence(Rule):
    """A collective or a barrier is reached by some replicas only: the others never come, and it waits for them.

    ## What it does
    Finds collectives (`xm.all_reduce`, `xm.optimizer_step`, `xm.mesh_reduce`, `xm.rendezvous`, `torch.distributed`, …)
    and barriers under a test that differs between replicas: a test on the rank or ordinal, wherever it was stored, or,
    in code that several replicas run, on a value that each of them computed for itself. Accelerate's scripts are such
    code. It also finds reads and saves, on some replicas, of values whose graph holds a collective. For torch_xla up
    to 2.0, `xm.save` counts as a collective. The finding stands at the call under the test, which may be the call of a
    helper.

    ## Why it matters
    A collective ends when all replicas have called it. If one does not, the others wait forever: the program hangs
    without a message. A value computed from a collective is the same trap in disguise, because reading it executes the
    collective. (By reading the source of torch_xla 2.9.0; `xm.rendezvous` and `xm.mesh_reduce` hang by construction.)

    A barrier by itself waits for nobody, by the same source: with no collective pending it cuts the graph of that
    replica alone. It hangs once a reduction of gradients is among what it runs.

    ## What to write instead
    Call it on all replicas, and let only host work depend on the rank:

    ```python
    loss = xm.mesh_reduce("loss", loss.item(), average)
    if xm.is_master_ordinal():
        print(loss)
    ```

    Where a metric decides, make it the same everywhere before it is tested, as above.

    ## When it is fine
    Tests that come out the same on all replicas, such as `xr.world_size() > 1`. A collective whose twin stands under
    the opposite test (`if not master: xm.rendezvous(tag)`, later `if master: xm.rendezvous(tag)`) is reached by all.

    ## On TorchTPU and TorchNeuron
    A collective under a test on the rank hangs in the same way. A read or a save on one rank only waits there, unless
    TorchTPU fuses.
    """

    symbol = "xla-rank-divergence"
    number = "9742"
    severity = Severity.ERROR
    message = "%(what)s stands under %(why)s: %(harm)s; call it on all replicas, and keep only host work under the test"
    subscribes = (Collective, LibraryCall, Read, Save)
    modes = EVERYWHERE

    @classmethod
    def is_of_interest(cls, call: str) -> bool:
        """Lightning's logging, which may wait for all replicas."""
        return call in LOGS

    def check(self, event: Event) -> Iterator[Finding]:
        """Report what only some replicas reach, and all should."""
        what = self._what(event)
        by_data = not isinstance(event, Read)
        constraint = dividing(event.context, by_data=by_data, replicated=self.replicated) if what else None
        if what is None or constraint is None:
            return
        node = event.node if isinstance(event, Read) else anchor(event, constraint)
        if isinstance(event, Collective) and paired(
            node, self._collectives[event.spelled, node.frame()], self._partings
        ):
            return
        harm = CUTS if isinstance(event, Collective) and not event.waits else WAITS
        yield self.finding(node, Confidence.CONTROL_FLOW, what=what, why=WHY[constraint.condition], harm=harm)

    def _what(self, event: Event) -> str | None:
        if isinstance(event, Collective):
            return event.spelled
        if isinstance(event, Read):
            collective = self.gathers and on_some_replicas(event) and event.tensor.collective
            return f"the read of '{event.what}', whose graph holds a collective," if collective else None
        if isinstance(event, Save):
            waits = self.gathers and is_collective_save(event, self.program.target)
            return event.spelled if waits else None
        if isinstance(event, LibraryCall):
            synchronised = is_synchronised(event)
            return "a log with sync_dist=True" if synchronised else None
        return None

    @property
    def gathers(self) -> bool:
        """Whether a value may still wait for what other replicas contribute when it is asked for."""
        return self.program.mode in GATHERED

    @cached_property
    def replicated(self) -> bool:
        """Whether the whole program runs on several replicas: `accelerate launch` starts one for each device."""
        return self.program.has_call(ACCELERATOR)

    @cached_property
    def _partings(self) -> set[nodes.NodeNG]:
        """The tests that part the replicas."""
        return {event.node for event in self.program.of(Parting)}

    @cached_property
    def _collectives(self) -> dict[tuple[str, nodes.NodeNG], list[nodes.NodeNG]]:
        """Where some replicas alone come to each collective, by its spelling and the function around."""
        found: dict[tuple[str, nodes.NodeNG], list[nodes.NodeNG]] = defaultdict(list)
        for event in self.program.of(Collective):
            constraint = dividing(event.context, replicated=self.replicated)
            if constraint is not None:
                node = anchor(event, constraint)
                found[event.spelled, node.frame()].append(node)
        return found


def is_collective_save(save: Save, target: Version) -> bool:
    """Whether a save waits for all replicas: by itself, or through what it saves."""
    waits = save.spelled in OWN_SAVES and target <= LAST_WAITING_SAVE and save.place is not Location.HOST
    return waits or (save.spelled != "wandb.watch" and save.collective)
