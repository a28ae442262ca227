"""A generated project as large as people have them: programs share one long module, and import models of a package."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

PROGRAMS = 4
MODELS = 8
"""How many modules of models each program leads to."""
LOOPS = """\
def train_{n}(model, loader, optimizer, device):
    total = 0.0
    for step, (data, target) in enumerate(loader):
        optimizer.zero_grad()
        output = model(data.to(device))
        loss = torch.nn.functional.cross_entropy(output, target.to(device))
        if torch.isnan(loss):
            raise ValueError("diverged")
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item()
        torch_xla.sync()
    return total


def evaluate_{n}(model, loader, device):
    correct = torch.zeros((), device=device)
    with torch.no_grad():
        for data, target in loader:
            output = model(data.to(device)).argmax(dim=-1)
            correct += (output == target.to(device)).sum()
    return correct.item()


"""
MODEL = """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.inner = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        return x + self.inner(self.norm(x))


class Model{n}(nn.Module):
    def __init__(self, width=64, depth=4):
        super().__init__()
        self.blocks = nn.ModuleList([Block(width) for _ in range(depth)])
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)
"""
TRAIN = """\
import torch
import torch_xla

import engine
{imports}


def main():
    device = torch_xla.device()
    loader = torch.utils.data.DataLoader(list(range(1000)), batch_size=32, drop_last=True)
    model = {kind}().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
{calls}


if __name__ == "__main__":
    main()
"""


def write_project(folder: Path, files: int, lines: int) -> Path:
    """Write a project of so many files, and return its longest one, of so many lines; the programs import it."""
    (folder / "pyproject.toml").write_text("[project]\nname = 'generated'\n", encoding="utf-8")
    package = folder / "models"
    package.mkdir()
    (package / "__init__.py").touch()
    others = files - PROGRAMS - 2
    for number in range(others):
        (package / f"model{number}.py").write_text(MODEL.replace("{n}", str(number)), encoding="utf-8")
    count = lines // LOOPS.count("\n")
    head = "import torch\nimport torch_xla\n\n\n"
    longest = folder / "engine.py"
    longest.write_text(head + "".join(LOOPS.replace("{n}", str(n)) for n in range(count)), encoding="utf-8")
    for number in range(PROGRAMS):
        used = [(number * MODELS + n) % others for n in range(MODELS)]
        calls = [f"    engine.train_{n}(model, loader, optimizer, device)\n" for n in range(number, count, PROGRAMS)]
        calls += [f"    engine.evaluate_{n}(model, loader, device)\n" for n in range(number, count, PROGRAMS)]
        text = TRAIN.format(
            imports="\n".join(f"from models.model{n} import Model{n}" for n in used),
            kind=f"Model{used[0]}",
            calls="".join(calls).rstrip("\n"),
        )
        (folder / f"train{number}.py").write_text(text, encoding="utf-8")
    return longest
