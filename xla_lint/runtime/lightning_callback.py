"""A callback for Lightning's Trainer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightning.pytorch import Callback

from xla_lint.runtime.steplog import StepLog

if TYPE_CHECKING:
    from lightning.pytorch import LightningModule, Trainer

    from xla_lint.runtime.counts import Counts


class CompileCallback(Callback):
    """`Trainer(callbacks=[CompileCallback()])`: logs the steps that compile although training is warm.

    Logs to `xla_lint.runtime`. After training, `counts` holds the totals.
    """

    def __init__(self, after: int = 3) -> None:
        super().__init__()
        self._log = StepLog(after)
        self.counts: Counts | None = None

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Begin to count."""
        self._log.begin()

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """One step is over."""
        self._log.step(trainer.global_step)

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """End counting."""
        self.counts = self._log.end()

    def on_exception(self, trainer: Trainer, pl_module: LightningModule, exception: BaseException) -> None:
        """Training ends early."""
        self.counts = self._log.end()
