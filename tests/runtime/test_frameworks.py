"""Budgets in pytest, and the callbacks for training frameworks, on the real torch_xla."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
STEP = """
import pytest, torch, torch_xla

def train(*sizes):
    for rows in sizes:
        (torch.ones(rows, device=torch_xla.device()) * 2).sum()
        x = torch.ones(rows, device=torch_xla.device()) * 2
        torch_xla.sync()
"""


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PJRT_DEVICE": "CPU", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def outcomes(folder: Path, tests: str) -> str:
    (folder / "test_it.py").write_text(STEP + tests)
    plugin = ("-p", "xla_lint.runtime.pytest_plugin", "-p", "no:xla-lint", "-p", "no:cacheprovider")
    return python(folder, "-m", "pytest", "-q", "--strict-markers", *plugin, "test_it.py").stdout


def test_a_marked_test_keeps_its_budget(tmp_path: Path) -> None:
    out = outcomes(tmp_path, "@pytest.mark.xla_compile_budget(1)\ndef test_one():\n    train(3, 3, 3)\n")
    assert "1 passed" in out


def test_marked_tests_break_their_budget(tmp_path: Path) -> None:
    out = outcomes(
        tmp_path,
        "@pytest.mark.xla_compile_budget(0, after=1)\ndef test_one():\n    train(3, 3, 4, 5)\n"
        "import unittest\n@pytest.mark.xla_compile_budget(0)\nclass TestTwo(unittest.TestCase):\n"
        "    def test_it(self):\n        train(6)\n",
    )
    assert "2 failed" in out
    assert "1 graph was compiled, 0 allowed" in out
    assert "2 graphs were compiled after the first 1 steps, 0 allowed" in out
    assert "test_it.py:8 in train: barrier (2 times), because " in out
    assert "[5], and gave f32[4]" in out


def test_the_fixture_budgets_a_part(tmp_path: Path) -> None:
    out = outcomes(
        tmp_path,
        "def test_one(xla_compile_budget):\n    train(3)\n    with xla_compile_budget(0):\n        train(3)\n"
        "def test_two(xla_compile_budget):\n    with xla_compile_budget(0):\n        train(7)\n",
    )
    assert "1 failed, 1 passed" in out


def test_a_wrong_marker_is_said(tmp_path: Path) -> None:
    out = outcomes(tmp_path, "@pytest.mark.xla_compile_budget()\ndef test_one():\n    train(3)\n")
    assert "marker xla_compile_budget: " in out
    assert "1 failed" in out


def test_trainer_callback(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("""\
import logging, sys
import torch
from transformers import Trainer, TrainingArguments
from xla_lint.runtime.transformers_callback import CompileCallback
logging.getLogger("xla_lint.runtime").setLevel(logging.INFO)
logging.getLogger("xla_lint.runtime").addHandler(logging.StreamHandler(sys.stdout))

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)

    def forward(self, x, labels=None):
        return {"loss": (self.linear(x) - labels).square().mean()}

rows = [{"x": torch.ones(4), "labels": torch.ones(1)} for _ in range(26)]
arguments = TrainingArguments("out", optim="adamw_torch", per_device_train_batch_size=4, num_train_epochs=1,
                              report_to=[], dataloader_pin_memory=False, save_strategy="no", logging_strategy="no")
callback = CompileCallback(after=3)
Trainer(Model(), arguments, train_dataset=rows, callbacks=[callback]).train()
print(callback.counts.compiles >= 2, callback.counts.executions >= 7)
""")
    done = python(tmp_path, "train.py")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[-1] == "True True", lines
    assert any(line.startswith("compiled 1 times after the last step; ") for line in lines), lines


def test_lightning_callback(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("""\
import logging, sys
import torch, torch_xla
from lightning.pytorch import LightningModule, Trainer
from xla_lint.runtime.lightning_callback import CompileCallback
logging.getLogger("xla_lint.runtime").setLevel(logging.INFO)
logging.getLogger("xla_lint.runtime").addHandler(logging.StreamHandler(sys.stdout))

class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)

    def training_step(self, batch, index):
        x = torch.ones(3 if index < 5 else 2, 4, device=torch_xla.device())
        x.sum()
        y = x * 2
        torch_xla.sync()
        return self.linear(batch).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

callback = CompileCallback(after=3)
trainer = Trainer(accelerator="cpu", max_epochs=1, callbacks=[callback], logger=False, enable_checkpointing=False,
                  enable_progress_bar=False, enable_model_summary=False)
trainer.fit(Model(), torch.utils.data.DataLoader(torch.ones(7, 4)))
print(callback.counts.compiles, callback.counts.executions)
""")
    done = python(tmp_path, "train.py")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if "compile" in line or line[0].isdigit()]
    assert lines[0].startswith("compiled 1 times in step 6; ")
    assert "train.py:17 in training_step: barrier, because " in lines[0]
    assert "f32[2,4], and gave f32[3,4]" in lines[0]
    assert lines[-1] == "2 7"
