"""Rules that ask what a whole program does get their answer from all of its files."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest

from tests.test_fixtures import expected
from xla_lint.engine import Settings, check_module
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import parse, read

if TYPE_CHECKING:
    from pathlib import Path

SYMBOLS = frozenset(
    {
        "xla-accelerate-placement",
        "xla-cuda-leftover",
        "xla-missing-mp-fn",
        "xla-missing-zero-grad",
        "xla-sampler-without-epoch",
        "xla-sampler-without-rank",
        "xla-syncfree-without-scaler",
        "xla-unsupported-call",
    }
)
MAIN = """\
import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.runtime as xr
from torch import nn
import parts

"""
PARTS = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler

"""
PROGRAMS = {
    "a helper for CUDA in a program for XLA": (
        """
        if __name__ == "__main__":
            parts.tidy(nn.Linear(4, 1).to(torch_xla.device()))
        """,
        """
        def tidy(model):
            torch.cuda.synchronize()  # expect: xla-cuda-leftover
        """,
    ),
    "checkpointing in a helper": (
        """
        if __name__ == "__main__":
            model = nn.Linear(4, 1).to(torch_xla.device())
            parts.forward(model, torch.zeros(2, 4, device=torch_xla.device()))
        """,
        """
        from torch.utils.checkpoint import checkpoint

        def forward(model, x):
            return checkpoint(model, x)  # expect: xla-unsupported-call
        """,
    ),
    "a sampler made in a helper of a script": (
        """
        if __name__ == "__main__":
            parts.loader([1, 2, 3])
        """,
        """
        def loader(rows):
            return DataLoader(rows, sampler=DistributedSampler(rows))  # expect: xla-sampler-without-rank
        """,
    ),
    "a process group started in the script": (
        """
        if __name__ == "__main__":
            torch.distributed.init_process_group("xla", init_method="xla://")
            parts.loader([1, 2, 3])
        """,
        """
        def loader(rows):
            return DataLoader(rows, sampler=DistributedSampler(rows))
        """,
    ),
    "a sampler told by the script": (
        """
        def _mp_fn(index):
            sampler, loader = parts.build(torch.zeros(8, 4), xr.world_size(), xr.global_ordinal())
            model = nn.Linear(4, 1).to(torch_xla.device())
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for epoch in range(3):
                sampler.set_epoch(epoch)
                parts.train(model, optimizer, loader, torch_xla.device())
            for epoch in range(3):  # expect: xla-sampler-without-epoch
                parts.train(model, optimizer, loader, torch_xla.device())
        """,
        """
        def build(rows, size, rank):
            sampler = DistributedSampler(rows, size, rank)
            return sampler, DataLoader(rows, sampler=sampler)

        def train(model, optimizer, loader, device):
            for x in loader:
                optimizer.zero_grad()
                model(x.to(device)).mean().backward()
                optimizer.step()
        """,
    ),
    "gradients cleared by hand in a helper": (
        """
        if __name__ == "__main__":
            model = nn.Linear(4, 1).to(torch_xla.device())
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for _ in range(3):
                parts.clear(model)
                model(torch.zeros(2, 4, device=torch_xla.device())).mean().backward()
                optimizer.step()
                torch_xla.sync()
            for _ in range(3):  # expect: xla-missing-zero-grad
                model(torch.zeros(2, 4, device=torch_xla.device())).mean().backward()
                optimizer.step()
                torch_xla.sync()
        """,
        """
        def clear(model):
            for p in model.parameters():
                p.grad = None
        """,
    ),
    "a scaler in a helper": (
        """
        from torch_xla.amp import syncfree

        def train(model, scaler):
            optimizer = syncfree.SGD(model.parameters(), lr=0.1)
            parts.step(scaler, optimizer)
        """,
        """
        def step(scaler, optimizer):
            scaler.step(optimizer)
        """,
    ),
    "no scaler anywhere": (
        """
        from torch_xla.amp import syncfree

        def train(model):
            optimizer = syncfree.SGD(model.parameters(), lr=0.1)  # expect: xla-syncfree-without-scaler
            parts.step(optimizer)
        """,
        """
        def step(optimizer):
            optimizer.step()
        """,
    ),
    "a training script that another one starts": (
        """
        def worker(index):
            parts.main()

        if __name__ == "__main__":
            torch_xla.launch(worker)
        """,
        """
        import torch_xla
        from transformers import Trainer, TrainingArguments

        def main():
            Trainer(build(), TrainingArguments("out", dataloader_num_workers=4)).train()

        if __name__ == "__main__":
            main()
        """,
    ),
    "a training script that another one imports": (
        """
        if __name__ == "__main__":
            print(parts.main)
        """,
        """
        import torch_xla
        from transformers import Trainer, TrainingArguments

        def main():  # expect: xla-missing-mp-fn
            Trainer(build(), TrainingArguments("out", dataloader_num_workers=4)).train()

        if __name__ == "__main__":
            main()
        """,
    ),
    "a model moved in a helper": (
        """
        from accelerate import Accelerator

        if __name__ == "__main__":
            accelerator = Accelerator(device_placement=False)
            accelerator.prepare(parts.build(accelerator.device))
        """,
        """
        def build(device):
            return nn.Linear(4, 1).to(device)
        """,
    ),
    "a model moved nowhere": (
        """
        from accelerate import Accelerator

        if __name__ == "__main__":
            accelerator = Accelerator(device_placement=False)  # expect: xla-accelerate-placement
            accelerator.prepare(parts.build(accelerator.device))
        """,
        """
        def build(device):
            return nn.Linear(4, 1)
        """,
    ),
}


@pytest.mark.parametrize(("main", "parts"), PROGRAMS.values(), ids=PROGRAMS)
def test_findings_in_both_files(main: str, parts: str, tmp_path: Path) -> None:
    texts = {"main.py": MAIN + textwrap.dedent(main), "parts.py": PARTS + textwrap.dedent(parts)}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for name, text in texts.items():
        module = parse(read(tmp_path / name).decode(), tmp_path / name)
        findings = check_module(module, Project(tmp_path), Settings(), SYMBOLS)
        assert {(int(finding.node.lineno or 0), finding.rule.symbol) for finding in findings} == expected(text)


def test_the_line_that_pays_is_named(tmp_path: Path) -> None:
    main = """
        device = torch_xla.device()
        model = nn.Linear(4, 1).to(device)
        optimizer, scaler = parts.build(model)
        for _ in range(9):
            scaler.scale(model(torch.ones(2, 4, device=device)).sum()).backward()
            scaler.step(optimizer)
            torch_xla.sync()
        """
    built = """
        def build(model):
            return torch.optim.ASGD(model.parameters()), torch.amp.GradScaler()
        """
    (tmp_path / "main.py").write_text(MAIN + textwrap.dedent(main), encoding="utf-8")
    path, text = tmp_path / "parts.py", PARTS + textwrap.dedent(built)
    path.write_text(text, encoding="utf-8")
    found = {f.rule.symbol: f for f in check_module(parse(text, path), Project(tmp_path), Settings())}
    line = MAIN.count("\n") + 7
    for symbol in ("xla-syncing-optimizer", "xla-foreign-grad-scaler"):
        assert f" (line {line} of main.py): " in found[symbol].message
        assert [node.lineno for node in found[symbol].cost_shows_at] == [line]
