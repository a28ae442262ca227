"""A callback for the Trainer of Hugging Face transformers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback

from xla_lint.runtime.steplog import StepLog

if TYPE_CHECKING:
    from transformers import TrainerControl, TrainerState, TrainingArguments

    from xla_lint.runtime.counts import Counts


class CompileCallback(TrainerCallback):
    """`Trainer(..., callbacks=[CompileCallback()])`: logs the steps that compile although training is warm.

    Logs to `xla_lint.runtime`. After training, `counts` holds the totals.
    """

    def __init__(self, after: int = 3) -> None:
        self._log = StepLog(after)
        self.counts: Counts | None = None

    def on_train_begin(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        """Begin to count."""
        self._log.begin()

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        """One step is over."""
        self._log.step(state.global_step)

    def on_train_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        """End counting."""
        self.counts = self._log.end()
