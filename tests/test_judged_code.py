"""Kinds of findings that were judged at their source: what is not true, or is said already, is not said."""

from __future__ import annotations

import textwrap

import pytest

from xla_lint.engine import Settings, check_module, default_symbols
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import parse

HEAD = """\
import copy, torch, torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.runtime as xr
device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def step(x):
    optimizer.zero_grad()
    loss = model(x).mean()
    loss.backward()
    xm.optimizer_step(optimizer)
    return loss.detach()

"""


def found(body: str) -> list[tuple[str, str]]:
    """The findings in a program that begins with `HEAD`: the source line, and the rule without `xla-`."""
    text = HEAD + textwrap.dedent(body)
    findings = check_module(parse(text, "train.py"), Project(), Settings(), default_symbols())
    lines = text.splitlines()
    return sorted((lines[f.node.fromlineno - 1].strip(), f.rule.symbol.removeprefix("xla-")) for f in findings)


LOOP = """
class Tracker:
    def __init__(self):
        self.data = {"lr": []}
        for name in ("train", "val"):
            self.data[f"{name}_loss"] = None
        self.last = 0.0

    def update(self, name, loss):
        self.data[f"{name}_loss"] = loss
        if input():
            self.last = loss

    def show(self):
        for key in self.data:
            BODY

tracker = Tracker()
for epoch in range(3):
    for _ in range(100):
        loss = step(torch.ones(2, 4, device=device))
        torch_xla.sync()
    tracker.update(input(), model(torch.ones(2, 4, device=device)).mean())
    tracker.show()
"""
TOLD = {
    "item": ("v = copy.deepcopy(self.data[key]) if isinstance(self.data[key], list) else []", False),
    "other item": ("v = copy.deepcopy(self.data[key]) if isinstance(self.data['lr'], list) else []", True),
    "attribute": ("v = self.last if not isinstance(self.last, torch.Tensor) else 0", False),
    "attribute that is one": ("v = self.last if isinstance(self.last, torch.Tensor) else 0", True),
    "statement": ("v = 0\nif isinstance(self.last, (int, float)):\n    v = self.last", False),
    "set meanwhile": (
        "v = 0\nif isinstance(self.last, float):\n    self.last = self.data[key]\n    v = self.last",
        True,
    ),
}


@pytest.mark.parametrize(("body", "reads"), TOLD.values(), ids=TOLD)
def test_what_a_type_test_tells_of_attributes_and_items(body: str, reads: bool) -> None:
    show = f"{body}\nif xr.global_ordinal() == 0:\n    print(v)"
    text = LOOP.replace("BODY", textwrap.indent(show, " " * 12).strip())
    assert found(text) == ([("print(v)", "rank-read")] if reads else [])


def test_a_read_of_all_replicas_in_every_step_speaks_for_that_of_one() -> None:
    body = """
        def is_bad(loss):
            return bool(loss > 3)
        for _ in range(100):
            is_bad(step(torch.ones(2, 4, device=device)))
            torch_xla.sync()
        if xr.global_ordinal() == 0:
            for _ in range(100):
                is_bad(model(torch.ones(2, 4, device=device)).mean())
        """
    assert ("return bool(loss > 3)", "rank-read") not in found(body)
    assert ("return bool(loss > 3)", "value-read") in found(body)
    alone = body.replace("is_bad(step(torch.ones(2, 4, device=device)))", "step(torch.ones(2, 4, device=device))")
    assert ("return bool(loss > 3)", "rank-read") in found(alone)
