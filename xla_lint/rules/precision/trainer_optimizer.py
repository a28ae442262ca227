"""`xla-trainer-optimizer`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.program.backend.backend import Role
from xla_lint.program.backend.torch_xla.names import TRAINER_OPTIMIZER
from xla_lint.program.domain.events import LibraryCall
from xla_lint.rules.arguments import constant, given
from xla_lint.rules.base import Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.program.domain.events import Event
    from xla_lint.rules.base import Finding

ARGUMENTS = frozenset({"transformers.TrainingArguments", "transformers.Seq2SeqTrainingArguments"})


class TrainerOptimizer(Rule):
    """The Trainer trains in float16 with an optimizer that makes its scaler read.

    ## What it does
    Finds `TrainingArguments(fp16=True)` whose `optim` is not `"adamw_torch_xla"`.

    ## Why it matters
    With float16 the Trainer scales the loss, and the scaler asks before each step whether gradients overflowed.
    `adamw_torch_xla` is the optimizer that can take the answer without the host (by reading the source of
    transformers).

    ## What to write instead
    `bf16=True`, which needs no scaler. Where float16 it must be: `optim="adamw_torch_xla"`.

    ## When it is fine
    On TPU and Trainium bfloat16 is the native type; the question does not arise with `bf16=True`. The message is advice
    and off unless enabled.
    """

    symbol = "xla-trainer-optimizer"
    number = "9739"
    severity = Severity.ADVICE
    message = (
        "fp16=True scales the loss, and the default optimizer makes the scaler read a value every step; use bf16=True,"
        f' or optim="{TRAINER_OPTIMIZER}"'
    )
    subscribes = (LibraryCall,)
    needs = (Role.OPTIMIZERS,)

    @classmethod
    def is_of_interest(cls, call: str) -> bool:
        """The arguments of Trainers."""
        return call in ARGUMENTS

    def check(self, event: Event) -> Iterator[Finding]:
        """Report float16 training with another optimizer."""
        if not isinstance(event, LibraryCall) or event.unpacked:
            return
        optimizer = event.kwargs.get("optim")
        other = not given(optimizer) or constant(optimizer) not in (None, TRAINER_OPTIMIZER)
        if constant(event.kwargs.get("fp16")) is True and other:
            yield self.finding(event.node)
