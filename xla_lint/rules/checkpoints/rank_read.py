"""`xla-rank-read`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.contexts import Condition
from xla_lint.program.domain.events import Collective, Read, Save
from xla_lint.program.domain.values import Location
from xla_lint.rules.base import GATHERED, Confidence, Counter, Rule, Severity
from xla_lint.rules.checkpoints.guarded import OWN_SAVES, WHY, anchor, dividing
from xla_lint.rules.checkpoints.rank_divergence import is_collective_save
from xla_lint.rules.reads.selection import Cost, cost_of, on_some_replicas
from xla_lint.rules.wording import computed, confidence, where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from astroid import nodes

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding


MATERIALISE = "move what is saved to the CPU on all replicas, and write it on one"
ON_ALL = "call it on all replicas: it writes on the master only"


class RankRead(Rule):
    """A pending tensor is read, printed or saved on some replicas only.

    ## What it does
    Finds reads and prints of pending tensors under a test on the rank, in step code and outside, `xm.master_print` of a
    tensor, `xm.save` of something pending under such a test, and `wandb.watch` on one replica. A read is reported where
    it happens, with the calls that lead there; a save at the call under the test.

    ## Why it matters
    The read executes a graph that the other replicas never see. The replicas that read compile it, run it, and fall
    behind in every step. As soon as a collective is pending on the way to the value, it waits for replicas that do not
    come, and the program hangs. `xm.save` is made to be called by all: it writes on the master by itself.

    ## What to write instead
    Read on all replicas, and print on one:

    ```python
    torch_xla.sync()
    value = loss.item()
    if xm.is_master_ordinal():
        print(value)
    ```

    Or hand the tensor to a step closure, which all replicas run after the barrier:
    `xm.add_step_closure(report, args=(loss,))`.

    ## When it is fine
    Host work under the test is never reported, nor is a value that was fetched or materialised on all replicas before:
    fetching it again concerns one replica alone. Where all replicas read at the same place in every step of another
    loop, that is what is reported. `xm.save` on the master after a barrier that all have passed executes
    nothing (torch_xla 2.9.0).

    ## On TorchTPU and TorchNeuron
    TorchTPU with `DEFER_AND_FUSE` runs what a read or a save needs on that rank alone, and waits for the others
    (documented; a checkpoint that stopped growing was reported). Move what is saved to the CPU on all ranks, and write
    it on one. Where operations run one by one, a read on one rank only waits: in a step it is `xla-value-read`.
    """

    symbol = "xla-rank-read"
    number = "9743"
    severity = Severity.WARNING
    message = (
        "%(what)s on some replicas only (%(why)s)%(where)s: they run a graph that the others never do, and hang once it"
        " holds a collective; %(instead)s"
    )
    subscribes = (Read, Save)
    modes = GATHERED
    costs = (Counter.EXECUTIONS,)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report reads and saves that not all replicas do."""
        if isinstance(event, Read):
            yield from self._check_read(event)
        elif isinstance(event, Save) and not is_collective_save(event, self.program.target):
            yield from self._check_save(event)

    def _check_read(self, read: Read) -> Iterator[Finding]:
        constraint = dividing(read.context, by_data=False)
        failed = read.context.once and Condition.DATA in read.context.conditions
        if failed or constraint is None or not on_some_replicas(read) or read.tensor.collective:
            return
        call = anchor(read, constraint)
        if (call is not read.node and call in self._diverging) or self._costs_all(read.node):
            return
        yield self.finding(
            read.node,
            confidence(read.context, read.tensor, on_every_path=read.on_every_path),
            what=f"'{read.what}', still pending{computed(read.tensor, read.context)}, is read by {read.spelled}",
            why=WHY[constraint.condition],
            where=where(read.context),
            instead=f"read it on all replicas{self._after}, and print it on one",
        )

    def _costs_all(self, node: nodes.NodeNG) -> bool:
        """Whether all replicas read at a node elsewhere, in every step: what helps there helps here, too."""
        reads = (event for event in self.program.at(node) if isinstance(event, Read))
        return any(cost_of(read, self.program) is Cost.FULL for read in reads)

    @property
    def _after(self) -> str:
        return f" after {self.program.barrier}" if self.program.backend.has(Role.BARRIER) else ""

    @cached_property
    def _diverging(self) -> set[nodes.NodeNG]:
        """The calls under a test on the rank that wait for all replicas: the call as a whole is the mistake."""
        found = [(event, dividing(event.context)) for event in self.program.of(Collective) if event.waits]
        return {anchor(event, constraint) for event, constraint in found if constraint is not None}

    def _check_save(self, save: Save) -> Iterator[Finding]:
        fused = not self.program.aim.is_lazy and save.spelled != "wandb.watch" and save.place is Location.DEVICE
        own = fused or (save.spelled in OWN_SAVES and save.place is not Location.HOST and save.pending)
        watches = save.spelled == "wandb.watch" and save.place is Location.DEVICE
        constraint = dividing(save.context, by_data=own)
        if constraint is None or not (own or watches):
            return
        yield self.finding(
            anchor(save, constraint),
            Confidence.of(save.place is Location.DEVICE and save.certain),
            what=f"{save.spelled} runs" if own else "hooks that read gradients are set",
            why=WHY[constraint.condition],
            where=where(save.context),
            instead=MATERIALISE if fused else ON_ALL if own else "log values that all replicas have read",
        )
