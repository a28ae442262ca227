"""A call that is remembered does what it did: the same findings with and without a memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.transforms import findings_of
from xla_lint.program.interpreter.memo import Memo
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
        for step in range(9):
            rate = send(torch.full((4,), float(step)))
            noise = send(torch.randn(4))
            loss = (model(rate) + noise).mean()
            loss.backward()
            torch_xla.sync()
    """,
    "an object changed on one path only": """
        class Meter:
            def __init__(self):
                self.value = 0
            def show(self):
                print(self.value)
        meter = Meter()
        for step in range(9):
            loss = model(torch.ones(4, device=device)).mean()
            if step % 7 == 0:
                meter.value = 3
                meter.show()
            else:
                meter.value = loss
                meter.show()
            torch_xla.sync()
    """,
    "a barrier on one path only": """
        def show():
            print(loss)
        for step in range(9):
            loss = model(torch.ones(4, device=device)).mean()
            if step:
                torch_xla.sync()
                loss + 1
                show()
            else:
                show()
            torch_xla.sync()
    """,
    "fetched on one path only": """
        def show(meter):
            print(meter.value)
        class Meter:
            value = 0
        meter = Meter()
        for step in range(9):
            meter.value = model(torch.ones(4, device=device)).mean()
            if step:
                meter.value.cpu()
                show(meter)
            else:
                show(meter)
            torch_xla.sync()
    """,
    "a function that is another one each time": """
        def make(fetches):
            def run(x):
                return x.mean().item() if fetches else x.mean()
            return run
        for step in range(9):
            out = model(torch.ones(4, device=device))
            make(False)(out)
            make(True)(out)
            torch_xla.sync()
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
