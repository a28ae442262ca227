"""Modules, callbacks and trainers."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "what a module's methods are given": """
        import lightning
        class Net(lightning.LightningModule):
            def training_step(self, batch, number):
                probe.value(batch)  # is: device output
                probe.value(number)  # is: number
                probe.value(self.global_rank)  # is: number rank
                probe.value(self.trainer.is_global_zero)  # is: number rank
                probe.value(self.trainer.max_epochs)  # is: Method
                probe.value(self.device)  # is: device named
                loss = self(batch).mean()
                probe.value(self.log("loss", loss))  # is: None
                self.log("loss", loss, prog_bar=True)  # expect: xla-print-tensor
                self.log_dict({"loss": loss}, prog_bar=True)  # expect: xla-print-tensor
                probe.value(self.manual_backward(loss))  # is: None
                probe.value(self.save_hyperparameters())  # is: None
                for parameter in self.parameters():
                    probe.value(parameter)  # is: device tensor
                return loss
            def other(self, batch):
                probe.value(batch)  # is: unknown
    """,
    "what a callback's methods are given": """
        import lightning
        from lightning.pytorch.callbacks import Callback
        class Watch(Callback):
            def on_train_batch_end(self, trainer, module, outputs, batch, number):
                probe.value(trainer)  # is: Trainer
                probe.value(module)  # is: device model Module
                probe.value(outputs)  # is: device output
        trainer = lightning.Trainer(callbacks=[Watch()])
        probe.value(trainer)  # is: Trainer
        probe.value(trainer.fit(model))  # is: unknown
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
