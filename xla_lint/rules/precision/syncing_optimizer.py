"""`xla-syncing-optimizer`."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from xla_lint.program.domain.events import LibraryCall, OptimizerStep
from xla_lint.program.domain.values import Location
from xla_lint.program.queries import parameters_place, step_counter
from xla_lint.rules.arguments import constant, device_tensor
from xla_lint.rules.base import Confidence, Counter, Rule, Severity
from xla_lint.rules.wording import confidence, lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from astroid import nodes

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding

OPTIMIZERS = {
    "Rprop": "reads values, and compiles anew, in every step",
    "ASGD": "reads its averaging coefficients in every step",
    "Adafactor": "reads the norms of parameters and updates in every step",
    "LBFGS": "reads losses and step sizes all the way through its search, and compiles anew",
    "RAdam": "takes another branch after its first steps, and compiles the step once more there",
}
"""Optimizers of `torch.optim` and what their step does on XLA (torch 2.9.1 on torch_xla 2.9.0, CPU device)."""
ADAFACTORS = ("torch.optim.Adafactor", "transformers.Adafactor", "transformers.optimization.Adafactor")
CAPTURABLE = frozenset({"Adam", "AdamW", "NAdam", "RAdam", "Adamax", "Adadelta", "ASGD", "Rprop", "RMSprop"})
"""Optimizers with `capturable`, which lets the learning rate stay on the device."""
COUNTING = frozenset({"Adam", "AdamW", "NAdam", "RAdam", "Adamax", "Adagrad"})
"""Optimizers that ask for the step of each parameter (torch 2.9.1; four of them measured)."""


class SyncingOptimizer(Rule):
    """An optimizer reads values in every step, or has the step compiled again.

    ## What it does
    Finds `Rprop`, `ASGD`, `Adafactor`, `LBFGS` and `RAdam` over parameters on the device, and any optimizer whose
    learning rate is a tensor on the device without `capturable=True`. The finding stands at the optimizer.
    It also finds steps that a program counts on the device itself, in `optimizer.state[p]["step"]`, for an optimizer
    that asks for them (`Adam`, `AdamW`, `NAdam`, `Adamax`, `Adagrad`) without `capturable=True`; that finding stands
    where the counter is made.

    ## Why it matters
    These optimizers look at values to decide what to do next. Measured with a small model, per step: Rprop 17
    executions and 12 compilations, LBFGS 11 executions, Adafactor 9, ASGD 5; one is right. RAdam computes another
    formula from its sixth step on, and costs one compilation there. A learning rate on the device is fetched once for
    each parameter, and so is a counter of steps: with four parameters, five executions instead of one.

    ## What to write instead
    `SGD`, `Adam`, `AdamW`, `RMSprop`, `Adagrad`, `Adadelta`, `Adamax` or `NAdam`, with a Python number as the learning
    rate. It may change in every step: it is sent as data, and nothing is compiled for it.

    ## When it is fine
    On the host, and for a handful of steps, as in polishing a solution.
    """

    symbol = "xla-syncing-optimizer"
    number = "9734"
    severity = Severity.WARNING
    message = "%(what)s%(where)s: the device waits for the host; %(instead)s"
    subscribes = (LibraryCall, OptimizerStep)
    costs = (Counter.EXECUTIONS, Counter.READS)

    @classmethod
    def is_of_interest(cls, call: str) -> bool:
        """Classes of optimizers."""
        return call in ADAFACTORS or call.rpartition(".")[0] == "torch.optim"

    def check(self, event: Event) -> Iterator[Finding]:
        """Report optimizers that do not leave the device alone."""
        if isinstance(event, OptimizerStep):
            yield from self._check_counter(event)
        if not isinstance(event, LibraryCall):
            return
        name = event.name.rpartition(".")[2]
        if device_tensor(event.argument(1, "lr")) is not None and not self._captures(event, name):
            what, instead = f"{name} reads its learning rate, a tensor on the device, in every step", "pass a number"
        elif name in OPTIMIZERS and self._on_device(event):
            if event.name.startswith("transformers.") and constant(event.kwargs.get("scale_parameter")) is False:
                return
            what, instead = f"{name} {OPTIMIZERS[name]}", "use Adam, AdamW or SGD"
        else:
            return
        steps = self.steps.get(event.node, [])
        cost_shows_at = [step.node for step in steps]
        always = not steps or any(confidence(step.context) is Confidence.HIGH for step in steps)
        yield self.finding(
            event.node,
            Confidence.HIGH if always else Confidence.CONTROL_FLOW,
            what=what,
            where=lines(cost_shows_at, event.node.root()),
            instead=instead,
        ).costing_at(cost_shows_at)

    def _check_counter(self, step: OptimizerStep) -> Iterator[Finding]:
        """Report a counter of steps on the device, where it is made."""
        optimizer, name = step.optimizer, step.optimizer.library.rpartition(".")[2]
        counter = step_counter(optimizer) if name in COUNTING and optimizer.node is not None else None
        made = self.program.maker_of(counter) if counter is not None else None
        if optimizer.node is None or counter is None or made is None:
            return
        built = [call for call in self.program.at(optimizer.node) if isinstance(call, LibraryCall)]
        if not any(self._captures(call, name) for call in built):
            steps = [other.node for other in self.steps[optimizer.node]]
            yield self.finding(
                made,
                confidence(step.context, counter),
                what=f"{name} reads this counter of steps, a tensor on the device, for each parameter in every step",
                where=lines(steps, made.root()),
                instead="make it on the host, or pass capturable=True",
            ).costing_at(steps)

    def _captures(self, call: LibraryCall, name: str) -> bool:
        return call.unpacked or (name in CAPTURABLE and constant(call.kwargs.get("capturable")) is True)

    def _on_device(self, call: LibraryCall) -> bool:
        return parameters_place(call.argument(0, "params")) is Location.DEVICE or any(
            step.context.step is not None and step.context.step.backward for step in self.steps.get(call.node, ())
        )

    @cached_property
    def steps(self) -> dict[nodes.NodeNG, list[OptimizerStep]]:
        """The steps of each optimizer, by the node that makes it."""
        found: dict[nodes.NodeNG, list[OptimizerStep]] = defaultdict(list)
        for event in self.program.of(OptimizerStep):
            if event.optimizer.node is not None:
                found[event.optimizer.node].append(event)
        return found
