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
    "a callback saves the model that a trainer has moved": """
        import lightning
        class Keep(lightning.Callback):
            def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
                if batch_idx % 100 == 0:
                    torch.save(pl_module.state_dict(), "all.pt")  # expect: xla-torch-save
                    torch.save({"model": pl_module.state_dict(), "n": batch_idx}, "both.pt")  # expect: xla-torch-save
                    torch.save({"batch": batch_idx}, "number.pt")
            def other(self, trainer, pl_module):
                torch.save(pl_module.state_dict(), "unknown.pt")
    """,
    "an optimizer of the project": """
        import lightning
        class Careful(torch.optim.SGD):
            def step(self, closure=None):
                super().step(closure)
                if self.param_groups[0]["params"][0].isnan().any():  # expect: xla-tensor-branch
                    raise ValueError
        class Net(lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.net = nn.Linear(4, 4)
            def training_step(self, batch, number):
                return self.net(batch).mean()
            def configure_optimizers(self):
                careful = Careful(self.net.parameters(), lr=0.1)
                return {"optimizer": careful, "lr_scheduler": torch.optim.lr_scheduler.StepLR(careful, 1)}
    """,
    "what a module was built with": """
        import lightning
        from transformers import AutoTokenizer, VisionEncoderDecoderModel
        class Base(lightning.LightningModule):
            def __init__(self, net, threshold=3):
                super().__init__()
                self.net, self.threshold = net, threshold
            def validation_step(self, batch, number):
                probe.value(self.threshold)  # is: 5
                probe.value(self.tokenizer)  # is: PreTrainedTokenizer
                tokens = self.net.generate(batch[0], max_length=128)  # expect: xla-dynamic-generate
                return self.tokenizer.batch_decode(tokens)  # expect: xla-value-read
        class Net(Base):
            def __init__(self, net, tokenizer):
                super().__init__(net, 5)
                self.tokenizer = tokenizer
        def build():
            net = VisionEncoderDecoderModel.from_pretrained("x")
            return Net(net, AutoTokenizer.from_pretrained("x"))
        lightning.Trainer(accelerator="tpu").validate(build(), loader)
    """,
    "what several modules were built with": """
        import lightning
        class Net(lightning.LightningModule):
            def __init__(self, net, rate):
                super().__init__()
                self.net, self.rate = net, rate
            def training_step(self, batch, number):
                probe.value(self.rate)  # is: unknown
                loss = self.net(batch).mean()
                print(loss)  # expect: xla-print-tensor
                return loss
        lightning.Trainer(accelerator="tpu").fit(Net(nn.Linear(4, 4), 1), loader)
        lightning.Trainer(accelerator="tpu").fit(Net(nn.Conv2d(4, 4, 1), 2), loader)
    """,
    "what a callback was built with": """
        import lightning
        class Watch(lightning.Callback):
            def __init__(self, every):
                self.every = every
            def on_train_batch_end(self, trainer, module, outputs, batch, number):
                probe.value(self.every)  # is: 10
                if number % self.every == 0:
                    print(trainer.global_step)
        lightning.Trainer(accelerator="tpu", callbacks=[Watch(10)]).fit(model, loader)
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
