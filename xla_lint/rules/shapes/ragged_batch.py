"""`xla-ragged-batch`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.fixes.changes import ChangeCall, Fix, Give, Span
from xla_lint.program.domain.events import LibraryCall, LoaderBuilt
from xla_lint.program.domain.values import NONE
from xla_lint.program.queries import dotted_name, fills_up
from xla_lint.rules.arguments import constant, given, is_spelled_out
from xla_lint.rules.base import EVERYWHERE, Confidence, Counter, Rule, Severity
from xla_lint.rules.wording import line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.program.domain.loaders import Loader
    from xla_lint.program.domain.loops import Loop
    from xla_lint.rules.base import Finding
DROP = "pass drop_last=True, or pad the last batch"
PAD = "pad it to the size of the others, and mask the padding out of the metrics: drop_last=True would lose rows"
EVENED = ", on one replica: for several, Accelerate fills the last batch up"
COMPILED_ANEW = "all that the step runs is compiled once more for it, on every start without a cache on disk"
FILLERS = frozenset({"pad", "zeros", "ones", "full", "new_zeros", "new_ones", "new_full", "repeat", "expand"})
"""What makes rows, or adds them."""
DROP_LAST = Fix("pass drop_last=True: the rows of the last batch are left out", safe=False)
DROP_LAST_POSITION = 8
WHY_NOT = {False: "drop_last is not set", True: "drop_last is False"}


class RaggedBatch(Rule):
    """The last batch of a `DataLoader` may be smaller than the others.

    ## What it does
    Finds `DataLoader` calls without `drop_last=True` whose batches reach a step loop. The finding stands at the
    call.

    ## Why it matters
    Unless the number of rows is a multiple of the batch size, the last batch has a shape of its own, and the step is
    compiled once more for it. That is one compilation in the whole run, late in the first epoch.

    ## What to write instead
    ```python
    DataLoader(rows, batch_size=32, shuffle=True, drop_last=True)
    ```

    For evaluation, where no row may be lost, pad the last batch and mask the padding out of the metric.

    ## When it is fine
    The number of rows divides by the batch size, the sampler is endless, or the dataset makes its own batches
    (`batch_size=None`). Where the source shows that, nothing is reported. `Accelerator.prepare` fills the last batch
    up when there are several replicas, unless `even_batches=False` (accelerate 1.15, `BatchSamplerShard`): the
    finding then holds for runs on a single one.

    ## On TorchTPU and TorchNeuron
    All that the step runs is compiled once more, on every start without a cache on disk. TorchTPU's documentation says
    "every epoch"; by its own account of the cache the second epoch hits.
    """

    symbol = "xla-ragged-batch"
    number = "9723"
    severity = Severity.REFACTOR
    message = (
        "the last batch of this DataLoader, which feeds %(feeds)s, %(may)s smaller than the others (%(why)s):"
        " %(cost)s; %(instead)s"
    )
    subscribes = (LoaderBuilt,)
    modes = EVERYWHERE
    costs = (Counter.COMPILES,)
    fixes = (DROP_LAST,)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report loaders of step loops whose batches may differ in size."""
        if not isinstance(event, LoaderBuilt) or not may_end_ragged(event.loader):
            return
        loader = event.loader
        step = next((loop for loop in loader.loops if loop.is_step), None)
        if (step is None and not loader.fed) or (step is not None and self._fills_up(step)):
            return
        rows, batch = loader.rows, constant(loader.batch_size)
        known = rows is not None and batch is not None
        drop = step is None or step.trains or drawn_anew(loader)
        finding = self.finding(
            event.node,
            Confidence.of(known),
            feeds=f"the step loop of line {line(step.node, event.node)}" if step else "the device",
            may="is" if known else "may be",
            why=(f"{rows} rows in batches of {batch}" if known else WHY_NOT[given(loader.drop_last)])
            + (EVENED if loader.evened else ""),
            cost="the step is compiled once more for it" if self.program.aim.is_lazy else COMPILED_ANEW,
            instead=DROP if drop else PAD,
        )
        yield finding.repaired_by(DROP_LAST, _dropping(event.node)) if drop else finding

    def _fills_up(self, step: Loop) -> bool:
        """Whether the step gives a batch the rows that it lacks."""
        calls = (event for event in self.program.inside(step) if isinstance(event, LibraryCall))
        return any(call.name.rpartition(".")[2] in FILLERS and fills_up(call.node) for call in calls)


def _dropping(node: nodes.NodeNG) -> ChangeCall | None:
    """`drop_last=True` for a call of `DataLoader`; None for what builds one in another way, or groups by a sampler."""
    if not is_spelled_out(node) or dotted_name(node.func) != "torch.utils.data.DataLoader":
        return None
    named = {keyword.arg: keyword.value for keyword in node.keywords}
    if "batch_sampler" in named or ("drop_last" in named and not isinstance(named["drop_last"], nodes.Const)):
        return None
    return ChangeCall(Span.of(node), (Give("drop_last", "True", DROP_LAST_POSITION),))


def drawn_anew(loader: Loader) -> bool:
    """Whether a loader shuffles its rows, as training does: those of the last batch are others in each epoch."""
    return constant(loader.shuffle) is True


def may_end_ragged(loader: Loader) -> bool:
    """Whether the last batch of a loader may be smaller than the others."""
    if loader.endless or (given(loader.drop_last) and constant(loader.drop_last) is not False):
        return False
    size = constant(loader.batch_size)
    if loader.batch_size is None or loader.batch_size is NONE or size == 1:
        return False
    if loader.rows is None or not isinstance(size, int):
        return True
    return loader.rows > size and loader.rows % size != 0
