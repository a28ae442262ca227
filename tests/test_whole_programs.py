"""Small programs of several files: what is built in one and matters in another."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest

from tests.test_fixtures import expected
from xla_lint.engine import Settings, check_module, default_symbols
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import parse, read

if TYPE_CHECKING:
    from pathlib import Path

READS = frozenset(symbol for symbol in default_symbols() if "read" in symbol or "accelerate" in symbol) | {
    "xla-tensor-branch"
}
DEVICE = """
import torch_xla

def get_device():
    return torch_xla.device()

def flush():
    torch_xla.sync()
"""
PROGRAMS = {
    "a module beside the script hides the library of its name": {
        "device.py": DEVICE,
        "evaluate.py": """
            def evaluate(model, loader, device):
                hits = 0
                for x, y in loader:
                    hits += (model(x.to(device)) == y.to(device)).sum().item()  # expect: xla-value-read
                return hits
        """,
        "main.py": """
            import torch
            from torch.utils.data import DataLoader, TensorDataset
            from device import get_device
            from evaluate import evaluate

            device = get_device()
            rows = TensorDataset(torch.ones(8, 4), torch.ones(8, 1))
            loader = DataLoader(rows, batch_size=2, drop_last=True)
            evaluate(torch.nn.Linear(4, 1).to(device), loader, device)
        """,
    },
    "a script that its helper imports back": {
        "helper.py": """
            def note(x):
                import train
                print(x.item())  # expect: xla-value-read
        """,
        "train.py": """
            import torch
            import torch_xla
            import helper

            for _ in range(9):
                x = torch.ones(2, device=torch_xla.device()).sum()
                helper.note(x)
                torch_xla.sync()
        """,
    },
    "a word in a comment is no import": {
        "tracker.py": """
            # as torch_xla would have it
            class Tracker:
                def add(self, loss):
                    self.total = loss.item()
        """,
        "main.py": """
            import torch
            from tracker import Tracker

            tracker = Tracker()
            for _ in range(9):
                loss = torch.nn.Linear(4, 1).to("xla")(torch.ones(2, 4, device="xla")).mean()
                loss.backward()
                tracker.add(loss)
        """,
    },
    "Accelerate, its loop in another file": {
        "loop.py": """
            def epoch(accelerator, model, optimizer, loader):
                for batch in loader:
                    loss = model(batch).mean()
                    loss.backward()  # expect: xla-accelerate-backward
                    optimizer.step()
        """,
        "main.py": """
            import torch
            from accelerate import Accelerator
            from torch.utils.data import DataLoader
            from loop import epoch

            accelerator = Accelerator()
            model = torch.nn.Linear(4, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            loader = DataLoader([torch.ones(4)] * 8, batch_size=2, drop_last=True)
            model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
            epoch(accelerator, model, optimizer, loader)
        """,
    },
    "Lightning on a TPU": {
        "lit.py": """
            import lightning as L
            import torch

            class Lit(L.LightningModule):
                def __init__(self):
                    super().__init__()
                    self.net = torch.nn.Linear(4, 1)

                def training_step(self, batch, index):
                    loss = self.net(batch).mean()
                    print(loss.item())  # expect: xla-value-read
                    return loss

            class Watch(L.Callback):
                def on_after_backward(self, trainer, pl_module):
                    for parameter in pl_module.parameters():
                        if parameter.grad.abs().max() > 9:  # expect: xla-tensor-branch
                            print("large")

                def on_train_batch_end(self, trainer, pl_module, outputs, batch, index):
                    if trainer.global_step % 50 == 0:
                        print(outputs["loss"].item())  # expect: xla-periodic-read
        """,
        "main.py": """
            import lightning as L
            from lit import Lit, Watch

            L.Trainer(accelerator="tpu", callbacks=[Watch()]).fit(Lit())
        """,
    },
    "a submodule that the package hands on": {
        "parts/__init__.py": "from . import ema\n",
        "parts/ema.py": """
            class Shadow:
                def update(self, model):
                    for parameter in model.parameters():
                        self.last = float(parameter.abs().max())  # expect: xla-value-read
        """,
        "device.py": DEVICE,
        "main.py": """
            import torch
            from device import flush, get_device
            from parts import ema

            model = torch.nn.Linear(4, 1).to(get_device())
            shadow = ema.Shadow()
            for _ in range(9):
                model(torch.ones(2, 4, device=get_device())).mean().backward()
                shadow.update(model)
                flush()
        """,
    },
    "a mixin, the trainer behind it, and counters": {
        "core.py": """
            import torch_xla

            class Trainer:
                def after_step(self, loss):
                    print(loss.item())  # expect: xla-value-read

                def fit(self, model, batches):
                    for batch in batches:
                        loss = model(batch).mean()
                        loss.backward()
                        self.after_step(loss)
                        torch_xla.sync()
        """,
        "mixins.py": """
            class Logs:
                every = 3
                counter = 0

                def after_step(self, loss):
                    super().after_step(loss)
                    self.counter += 1
                    if self.counter % self.every == 0:
                        print(loss.item())  # expect: xla-periodic-read
        """,
        "main.py": """
            import torch
            from core import Trainer
            from mixins import Logs

            class Mine(Logs, Trainer):
                def after_step(self, loss):
                    super().after_step(loss)

            device = torch.device("xla")
            Mine().fit(torch.nn.Linear(4, 1).to(device), [torch.ones(2, 4, device=device)] * 9)
        """,
    },
    "a counter in an object, counted by the loop": {
        "hooks.py": """
            class Every:
                def __init__(self, every):
                    self.every = every

                def __call__(self, state, loss):
                    if state.step % self.every == 0:
                        print(loss.item())  # expect: xla-periodic-read
        """,
        "main.py": """
            import torch, torch_xla
            from hooks import Every

            class State:
                def __init__(self):
                    self.step = 0

            device = torch_xla.device()
            model = torch.nn.Linear(4, 1).to(device)
            state, hook, counts = State(), Every(4), {"steps": 0}
            for _ in range(9):
                loss = model(torch.ones(2, 4, device=device)).mean()
                loss.backward()
                hook(state, loss)
                if counts["steps"] % 5 == 0:
                    print(loss.item())  # expect: xla-periodic-read
                state.step += 1
                counts["steps"] += 1
                torch_xla.sync()
        """,
    },
    "an evaluation over a generator": {
        "meters.py": """
            class Meters:
                def log_every(self, batches, every):
                    for number, batch in enumerate(batches):
                        yield batch
                        if number % every == 0:
                            print(number)
        """,
        "main.py": """
            import torch, torch_xla
            from torch.utils.data import DataLoader
            from torch_xla.distributed.parallel_loader import MpDeviceLoader
            from meters import Meters

            device = torch_xla.device()
            model = torch.nn.Linear(4, 1).to(device)
            loader = MpDeviceLoader(DataLoader([torch.ones(4)] * 8, batch_size=2, drop_last=True), device)
            for batch in Meters().log_every(loader, 10):
                print(model(batch).mean().item())  # expect: xla-value-read
        """,
    },
    "a helper that imports torch_xla in some case makes no XLA program of a script": {
        "generate.py": """
            def generate(model, x):
                if x.device.type == "xla":
                    import torch_xla
                return model(x)
        """,
        "finetune.py": """
            import torch
            from generate import generate

            def train(model: torch.nn.Module, batches):
                for batch in batches:
                    loss = generate(model, batch).mean()
                    loss.backward()
                    print(loss.item())
        """,
    },
    "a script for CUDA that shares a loader with one for XLA": {
        "bits/__init__.py": "from .runtime import available\n",
        "bits/runtime.py": """
            try:
                import torch_xla
            except ImportError:
                torch_xla = None

            def available():
                return torch_xla is not None
        """,
        "fetcher.py": """
            import bits

            def fetch(batches, device, wrap=False):
                if wrap:
                    from torch_xla.distributed.parallel_loader import MpDeviceLoader
                    return MpDeviceLoader(batches, device)
                return batches
        """,
        "net.py": """
            import torch

            class Net(torch.nn.Module):
                def forward(self, x):
                    return x * torch.sigmoid(x.mean()).item()
        """,
        "spare.py": """
            import torch

            class Spare(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.scale = torch.nn.Parameter(torch.zeros(()))

                def forward(self, x):
                    return x * torch.sigmoid(self.scale).item()
        """,
        "main_cuda.py": """
            import torch
            import spare
            from fetcher import fetch
            from net import Net

            model = Net().to("cuda:0")
            for x in fetch([torch.ones(2, 4)] * 9, "cuda:0"):
                model(x.to("cuda:0")).mean().backward()
        """,
    },
    "a script for any accelerator asks for it lazily": {
        "runtime.py": """
            import torch

            def pick(name):
                if name == "tpu":
                    import torch_xla
                    return torch_xla.device()
                return torch.device(name)
        """,
        "net.py": """
            import torch

            class Net(torch.nn.Module):
                def forward(self, x):
                    return x * torch.sigmoid(x.mean()).item()  # expect: xla-value-read
        """,
        "main.py": """
            import sys
            import torch
            from net import Net
            from runtime import pick

            device = pick(sys.argv[1])
            model = Net().to(device)
            for x in [torch.ones(2, 4)] * 9:
                model(x.to(device)).mean().backward()
        """,
    },
    "a script for CUDA beside one for XLA": {
        "device.py": DEVICE,
        "loop.py": """
            def steps(model, batches, device):
                for batch in batches:
                    loss = model(batch.to(device)).mean()
                    loss.backward()
                    print(loss.item())  # expect: xla-value-read
        """,
        "main_xla.py": """
            import torch
            from device import get_device
            from loop import steps

            device = get_device()
            steps(torch.nn.Linear(4, 1).to(device), [torch.ones(2, 4)] * 9, device)
        """,
        "main_cuda.py": """
            import torch
            from loop import steps

            model = torch.nn.Linear(4, 1).to("cuda")
            for _ in range(9):
                loss = model(torch.ones(2, 4, device="cuda")).mean()
                loss.backward()
                print(loss.item())
            steps(model, [torch.ones(2, 4)] * 9, "cuda")
        """,
    },
}


@pytest.mark.parametrize("files", PROGRAMS.values(), ids=PROGRAMS)
def test_program(files: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    for name, code in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(code), encoding="utf-8")
    project = Project(tmp_path)
    for name in files:
        path = tmp_path / name
        text = read(path).decode()
        found = check_module(parse(text, path), project, Settings(), READS)
        assert {(int(finding.node.lineno or 0), finding.rule.symbol) for finding in found} == expected(text), name
