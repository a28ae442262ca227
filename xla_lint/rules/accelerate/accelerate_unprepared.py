"""`xla-accelerate-unprepared`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from xla_lint.program.domain.contexts import Condition
from xla_lint.program.domain.events import Forward, LibraryCall, LoopRun, Transfer
from xla_lint.program.domain.loops import Form
from xla_lint.program.domain.objects import loaders_of
from xla_lint.program.domain.values import Instance, Location, Number, Trait, options
from xla_lint.program.queries import Domain, models_among, models_held
from xla_lint.rules.accelerate.evidence import PREPARE, accelerated, given_to_prepare
from xla_lint.rules.base import Confidence, Rule, Severity
from xla_lint.rules.wording import confidence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from astroid import nodes

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding

SCHEDULES = "torch.optim.lr_scheduler."


class AccelerateUnprepared(Rule):
    """A loop uses a model, optimizer, loader or schedule that Accelerate did not prepare.

    ## What it does
    Finds loops of an Accelerate program in which one of these is not what `accelerator.prepare` returned: it was
    never given to `prepare`, or its old name is used. The finding stands at the use: the loop over the loader, the
    call of the model, the `step()` of the optimizer or schedule.

    ## Why it matters
    Each case breaks in its own way on XLA. A model that was not prepared stays on the host and fails at the first
    batch. A plain loader yields host tensors, gives every replica the same rows, and is not a barrier, so the steps
    become one growing graph. An optimizer that was not prepared updates the parameters that the model had before it
    moved, or does not reduce the gradients. A schedule that was not prepared counts accumulated and skipped steps
    as steps, and does not count the other replicas.

    ## What to write instead
    ```python
    model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, loader, schedule)
    ```

    And use these names from there on.

    ## When it is fine
    Frozen models that are moved by hand. Work of one replica alone, under `accelerator.is_main_process`. A schedule
    that is stepped once an epoch, or under `accelerator.sync_gradients`, or that was made for a number of steps counted
    by `len()` of the prepared loader: these are the steps of one replica, which it must go on counting itself.
    """

    symbol = "xla-accelerate-unprepared"
    number = "9782"
    severity = Severity.ERROR
    message = "the %(kind)s used here is not what accelerator.prepare() returned: %(effect)s; use the prepared %(kind)s"
    subscribes = (LoopRun, LibraryCall, Forward)
    domain = Domain.ACCELERATE

    @classmethod
    def is_of_interest(cls, call: str) -> bool:
        """Steps of optimizers and schedules."""
        return call.startswith("torch.optim.") and call.endswith(".step")

    def check(self, event: Event) -> Iterator[Finding]:
        """Report what a loop uses unprepared."""
        if not self._prepares:
            return
        if isinstance(event, LoopRun) and self._walks_plain_loader(event):
            yield self.finding(
                event.node,
                confidence(event.context),
                kind="loader",
                effect="its batches are on the host and the same on every replica, and nothing cuts the graph",
            )
        elif isinstance(event, LibraryCall) and self._steps_unprepared(event):
            if event.name.startswith(SCHEDULES):
                effect = "it counts accumulated and skipped steps, and not the other replicas'"
                yield self.finding(event.node, Confidence.INFERENCE, kind="schedule", effect=effect)
            else:
                effect = "it updates other parameters than the prepared model's, or does not reduce the gradients"
                yield self.finding(event.node, confidence(event.context), kind="optimizer", effect=effect)
        elif isinstance(event, Forward) and self._calls_unprepared(event):
            effect = "it is on the host, and its inputs are on the device"
            yield self.finding(event.node, confidence(event.context), kind="model", effect=effect)

    @cached_property
    def _prepares(self) -> bool:
        """Whether the program prepares anything at all."""
        return self.program.has_call(*PREPARE)

    def _walks_plain_loader(self, event: LoopRun) -> bool:
        loop = event.loop
        if loop.form is not Form.LOOP or loop.iterable is None or Condition.RANK in event.context.conditions:
            return False
        loaders = loaders_of(loop.iterable)
        if not loaders or any(loader.prepared or loader.wrapped or loader.node is None for loader in loaders):
            return False
        used = [other for other in self.program.inside(loop) if isinstance(other, Forward) and other.prepared]
        return any(Condition.RANK not in other.context.conditions for other in used)

    def _steps_unprepared(self, call: LibraryCall) -> bool:
        receiver = call.receiver
        if not isinstance(receiver, Instance):
            return False
        same = (
            other.receiver
            for other in self.program.at(call.node)
            if isinstance(other, LibraryCall) and other.context.stack == call.context.stack
        )
        if receiver.node is None or any(isinstance(other, Instance) and other.prepared for other in same):
            return False
        if receiver in self._given:
            return True
        if call.name.startswith(SCHEDULES):
            if self._counts_prepared(receiver.node):
                return False
            step = call.context.step
            every = step is not None and step.trains and not call.context.periodic
            return every and accelerated(self.program, call.context)
        owners = models_held(receiver)
        return any(owner.prepared for owner in owners) and accelerated(self.program, call.context)

    def _counts_prepared(self, made: nodes.NodeNG) -> bool:
        """Whether a schedule was made for a number of steps that the prepared loader tells."""
        given = (
            option
            for call in self.program.at(made)
            if isinstance(call, LibraryCall)
            for value in (*call.args, *call.kwargs.values())
            for option in options(value)
        )
        return any(isinstance(option, Number) and Trait.PREPARED in option.traits for option in given)

    def _calls_unprepared(self, event: Forward) -> bool:
        model = event.model
        if event.prepared or event.place is Location.DEVICE or model.node is None or model not in self._trained:
            return False
        if model in self._moved or model in self._given:
            return False
        return accelerated(self.program, event.context)

    @cached_property
    def _moved(self) -> set[Instance]:
        """The models that the program moves by hand."""
        return {event.value for event in self.program.of(Transfer) if isinstance(event.value, Instance)}

    @cached_property
    def _given(self) -> set[Instance]:
        """The objects that `prepare` was given anywhere."""
        return given_to_prepare(self.program)

    @cached_property
    def _trained(self) -> set[Instance]:
        """The models whose parameters an optimizer holds."""
        return {
            model
            for call in self.program.calls_where(lambda name: name.startswith("torch.optim."))
            if call.args
            for value in options(call.args[0])
            for model in models_among(value)
        }
