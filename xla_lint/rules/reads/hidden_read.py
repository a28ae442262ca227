"""`xla-hidden-read`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from xla_lint.program.domain.events import How, LibraryCall, Read
from xla_lint.rules.arguments import constant, device_tensors
from xla_lint.rules.base import OUTSIDE_COMPILED, Counter, Rule, Severity
from xla_lint.rules.reads.library_calls import library_read, may_read
from xla_lint.rules.reads.selection import Cost, cost_of
from xla_lint.rules.wording import WAITS, called, confidence, where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding

VALIDATION_SWITCH = "Distribution.set_default_validate_args"


class HiddenRead(Rule):
    """A library call in step code reads values of device tensors inside.

    ## What it does
    Finds library calls that ask the host for values although nothing in the call looks like it:

    - constructors of `torch.distributions` that validate their arguments, which is the default; `OneHotCategorical`,
      `Multinomial`, `StudentT`, `RelaxedBernoulli`, `RelaxedOneHotCategorical`, `FisherSnedecor`, `LKJCholesky` and
      `ContinuousBernoulli` read also with `validate_args=False`;
    - `kl_divergence` of two distributions of the class `Categorical`, `OneHotCategorical`, `Bernoulli`, `Binomial`,
      `Uniform` or `Pareto`, `Geometric.log_prob`, and `VonMises.sample`, however they are validated;
    - `nn.TransformerEncoder` given `mask=` without `is_causal=`, `nn.TransformerDecoder` given `tgt_mask=` without
      `tgt_is_causal=`, and `nn.Transformer` given either;
    - `gaussian_nll_loss` and `nn.GaussianNLLLoss`;
    - `detect_anomaly` and `set_detect_anomaly(True)`, unless `check_nan=False`;
    - `torch.linalg.inv` and `torch.inverse`;
    - `ReduceLROnPlateau.step` given a pending tensor;
    - the aggregators of torchmetrics (`MeanMetric`, `SumMetric` and others) given a value, unless
      `nan_strategy="disable"`, and its metrics for two classes or several labels (`BinaryF1Score`,
      `Accuracy(task="binary")`), or for several classes given labels, unless `validate_args=False`;
    - metrics of torchmetrics that add to their state in place (`MeanSquaredError`, `ConfusionMatrix`), given tensors of
      the device although they were never moved there;
    - batch normalisation built with `momentum=None`;
    - Lightning's `self.log` and `self.log_dict` with `sync_dist=True` where the value is logged every step.

    The finding stands at the call, also where the reads come later, as with anomaly detection.

    ## Why it matters
    Each check runs the pending graph, waits for the answer, and leaves the step to be run again at the barrier. A
    distribution checks each of its parameters, and later the samples given to `log_prob`. The divergence of two
    categorical distributions assigns under two masks, and asks the device for the positions of each. Anomaly
    detection checks once per node of the backward pass. `momentum=None` turns the batch counter into a constant of
    the graph, so that every step is also compiled anew. `sync_dist=True` goes through `xm.mesh_reduce`, a rendezvous
    with several barriers (by reading Lightning's source).

    ## What to write instead
    Switch the check off: `validate_args=False`, or `torch.distributions.Distribution.set_default_validate_args(False)`
    once for the whole program, which also reaches the distributions that other ones build inside; `is_causal=True`
    for a causal mask, `is_causal=False` for any other; `check_nan=False`; `torch.linalg.inv_ex(a).inverse`;
    `on_step=False, on_epoch=True` in Lightning. Write a divergence out: `(p.probs * (p.logits - q.logits)).sum(-1)`
    for `Categorical`, `binary_cross_entropy_with_logits(q.logits, p.probs, reduction="none") - p.entropy()` for
    `Bernoulli`.

    ## When it is fine
    Outside step code, with host tensors, and while debugging. Running Python with `-O` switches the validation of
    distributions off.

    ## On TorchTPU and TorchNeuron
    The host waits for each check (by the source of PyTorch and of torchmetrics). What was seen on torch_xla alone,
    `torch.linalg.inv`, `sync_dist` and metrics on the host, is not claimed there.
    """

    symbol = "xla-hidden-read"
    number = "9707"
    severity = Severity.WARNING
    message = "'%(call)s' %(does)s on the host%(where)s: %(cost)s; %(instead)s"
    subscribes = (LibraryCall, Read)
    modes = OUTSIDE_COMPILED
    costs = (Counter.EXECUTIONS, Counter.READS)

    @classmethod
    def is_of_interest(cls, call: str) -> bool:
        """Calls that may read."""
        return may_read(call)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report library calls that read, in step code."""
        if isinstance(event, Read):
            yield from self._given(event)
        elif isinstance(event, LibraryCall) and not event.context.periodic:
            yield from self._called(event)

    def _given(self, event: Read) -> Iterator[Finding]:
        if event.how is How.HIDDEN and cost_of(event, self.program) is Cost.FULL:
            yield self.finding(
                event.node,
                confidence(event.context, event.tensor, on_every_path=event.on_every_path),
                call=event.spelled.rpartition(".")[2],
                where=where(event.context),
                cost=self._cost(event),
                does=f"converts '{event.what}' to a Python number",
                instead="call it once an epoch, with a number",
            )

    def _called(self, event: LibraryCall) -> Iterator[Finding]:
        found = library_read(event)
        if found is None or (found.validates and self.unvalidated):
            return
        if not (found.by_torch or self.program.aim.is_lazy):
            return
        if event.context.step is not None or (found.lasting and self.trains):
            yield self.finding(
                event.node,
                confidence(event.context, *device_tensors(event)),
                call=called(event.name),
                where=where(event.context),
                cost=self._cost(event),
                does=found.does,
                instead=found.instead,
            )

    def _cost(self, event: Event) -> str:
        least = "at least " if self.program.aim.is_lazy else ""
        return least + WAITS[self.program.charge_of(event)]

    @cached_property
    def trains(self) -> bool:
        """Whether some step of the program runs a backward pass."""
        return any(loop.backward for event in self.program.events for loop in event.context.loops)

    @cached_property
    def unvalidated(self) -> bool:
        """Whether the program switches the validation of distributions off."""
        switches = self.program.calls_where(lambda name: name.endswith(VALIDATION_SWITCH))
        return any(constant(call.argument(0, "value")) is False for call in switches)
