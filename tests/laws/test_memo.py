"""A call that is remembered does what it did: the same findings with and without a memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.transforms import findings_of
from xla_lint.program.machine.memo import Memo
from xla_lint.program.project.source import decode, read

ROOT = Path(__file__).parent.parent
WRITTEN = sorted(path for folder in ("fixtures", "programs", "guides") for path in (ROOT / folder).rglob("*.py"))
HEAD = """\
import torch
import torch_xla
from torch import nn
device = torch_xla.device()
model = nn.Linear(4, 4).to(device)
"""
CASES = {
    "a host value and one made of nothing but numbers": """
        def send(value):
            return value.to(device)
        def train(optimizer):
            for step in range(9):
                rate = send(torch.full((4,), float(step)))
                noise = send(torch.randn(4))
                loss = (model(torch.ones(4, device=device)) * rate + noise).mean()
                loss.backward()
                optimizer.step()
                torch_xla.sync()
        train(torch.optim.SGD(model.parameters(), lr=0.1))
    """,
    "an object changed on the other path": """
        class Meter:
            def __init__(self):
                self.value = 0
            def show(self):
                print(self.value)
        def train(meter):
            for step in range(9):
                meter.value = model(torch.ones(4, device=device)).mean()
                if step % 7 == 0:
                    meter.value = 3
                    meter.show()
                else:
                    meter.show()
                torch_xla.sync()
        train(Meter())
    """,
    "a barrier on the other path": """
        class Meter:
            def __init__(self):
                self.value = 0
            def show(self):
                print(self.value)
        def train(meter):
            for step in range(9):
                torch_xla.sync()
                meter.value = model(torch.ones(4, device=device)).mean()
                if step > 3:
                    torch_xla.sync()
                    x = torch.ones(4, device=device)
                    meter.show()
                else:
                    meter.show()
        train(Meter())
    """,
    "fetched on the other path": """
        class Meter:
            def __init__(self):
                self.value = 0
            def show(self):
                print(self.value)
        def train(meter):
            for step in range(9):
                meter.value = model(torch.ones(4, device=device)).mean()
                if step > 3:
                    meter.value.cpu()
                    meter.show()
                else:
                    meter.show()
                torch_xla.sync()
        train(Meter())
    """,
}


def told(source: str) -> list[tuple[object, ...]]:
    return [(f.node.lineno, f.node.col_offset, f.rule.symbol, f.message) for f in findings_of(source)]


def without_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("key", "plain_key"):
        monkeypatch.setattr(Memo, name, lambda *_: None)


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_written_program_is_told_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = decode(read(path))
    remembered = told(source)
    without_memory(monkeypatch)
    assert told(source) == remembered


@pytest.mark.parametrize("name", CASES)
def test_what_differs_is_told_apart(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = HEAD + "\n".join(line.removeprefix(" " * 8) for line in CASES[name].splitlines())
    remembered = told(source)
    without_memory(monkeypatch)
    assert remembered
    assert told(source) == remembered
