"""Trackers read what they are given."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "TensorBoard": """
        from torch.utils.tensorboard import SummaryWriter
        writer = SummaryWriter("runs")
        for step, x in enumerate(loader):
            loss = update(x)
            writer.add_text("note", "a")
            writer.flush()
            writer.add_scalar("loss", loss, step)  # expect: xla-print-tensor
    """,
    "Weights & Biases": """
        import wandb
        run = wandb.init()
        for x in loader:
            loss = update(x)
            wandb.log({"loss": loss})  # expect: xla-print-tensor
        for x in loader:
            run.log({"loss": update(x)})  # expect: xla-print-tensor
            run.finish()
    """,
    "MLflow": """
        import mlflow
        for x in loader:
            mlflow.log_metric("loss", update(x))  # expect: xla-print-tensor
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
