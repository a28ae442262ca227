"""`xla-split-step`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astroid import nodes

from xla_lint.program.backend.backend import Role
from xla_lint.program.domain.events import SplitStep
from xla_lint.program.domain.objects import COMPILED_MODEL
from xla_lint.program.queries import branches_around
from xla_lint.rules.base import Counter, Rule, Severity
from xla_lint.rules.wording import confidence, line, where

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding
AFTERWARDS = "with the backward pass, which the framework runs after it"
MOVE = "move the barrier after the optimizer step"
LEAVE_OUT = "leave it out: the framework ends each step with one"
WHOLE_STEP = "compile the whole step with {}, and keep torch.compile for inference"


class SplitStepBarrier(Rule):
    """A barrier in the middle of a training step cuts it in two.

    ## What it does
    Finds barriers in step code that stand between the forward pass and `backward()`, or between `backward()` and the
    optimizer step of the same iteration. A model under `torch.compile` with an XLA backend is such a barrier: each call
    runs its graph at once. So is a barrier in Lightning's `training_step`, after which Lightning runs the backward
    pass. The finding stands at the barrier, or at the call of the model.

    ## Why it matters
    The step becomes two graphs and two executions. What the second needs, the gradients for example, has to be kept
    as outputs of the first, and the compiler cannot optimise across the cut. A compiled model makes four executions of
    a small training step instead of one (measured on torch_xla 2.9.0).

    ## What to write instead
    One barrier, after the optimizer step:

    ```python
    loss.backward()
    xm.optimizer_step(optimizer)
    torch_xla.sync()
    ```

    ## When it is fine
    Where the whole step is too large for the compiler, it is cut on purpose; some Neuron samples do so. Say so in a
    comment and disable the message there. A barrier after a micro-step of gradient accumulation that runs no
    optimizer step is not reported, and under a test one only if the optimizer step stands under the same test.
    """

    symbol = "xla-split-step"
    number = "9713"
    severity = Severity.WARNING
    message = (
        "%(what)s in the middle of a training step%(where)s; the step goes on %(resumed)s, so it is cut into %(graphs)s"
        " every %(often)s; %(instead)s"
    )
    subscribes = (SplitStep,)
    costs = (Counter.EXECUTIONS,)

    def check(self, event: Event) -> Iterator[Finding]:
        """Report barriers that split a step."""
        if isinstance(event, SplitStep) and event.context.step is not None and meets_step(event):
            compiled = event.spelled == COMPILED_MODEL
            framework = isinstance(event.resumed, nodes.FunctionDef)
            yield self.finding(
                event.node,
                confidence(event.context),
                what="the compiled model runs where it is called," if compiled else "this barrier stands",
                where=where(event.context),
                resumed=AFTERWARDS if framework else f"in line {line(event.resumed, event.node)}",
                graphs="several graphs, with an execution of each" if compiled else "two graphs, with two executions",
                often="few steps" if event.context.periodic else "step",
                instead=self._instead(compiled=compiled, framework=framework),
            )

    def _instead(self, *, compiled: bool, framework: bool) -> str:
        if compiled:
            return WHOLE_STEP.format(self.program.spell(Role.COMPILE))
        return LEAVE_OUT if framework else MOVE


def meets_step(split: SplitStep) -> bool:
    """Whether the step that goes on is surely the one that the barrier has cut: both are taken every few steps alike.

    A barrier every ten steps and an optimizer step every four seldom meet.
    """
    return not split.context.periodic or tests_around(split.node) >= tests_around(split.resumed)


def tests_around(node: nodes.NodeNG) -> set[tuple[str, bool]]:
    """The tests under which a node stands in its function, and whether they hold."""
    return {(choice.test.as_string(), when) for choice, when in branches_around(node).items()}
