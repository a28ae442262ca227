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


RUN = """
import os

def is_lazy(device):
    return str(device).startswith("xla")

class Config:
    if os.getenv("RUN") == "cpu":
        _device, kind = None, None
    else:
        try:
            _device = torch_xla.device()
            kind = "tpu"
        except Exception:
            _device = None
            kind = "gpu" if torch.cuda.is_available() else "cpu"
    device = _device if _device is not None else "cpu"
    checks = False if kind == "tpu" else True
    saving = True if kind == "gpu" else False

def train(config):
    lazy = is_lazy(config.device)
    for _ in range(100):
        loss = step(torch.ones(2, 4, device=config.device))
        if TEST:
            print(loss)
        torch_xla.sync()

train(Config())
"""


@pytest.mark.parametrize("test", ["lazy", "is_lazy(config.device)", "config.kind == 'tpu'", "config.kind != 'gpu'"])
def test_what_asks_for_the_kind_of_device_holds_on_it(test: str) -> None:
    assert found(RUN.replace("TEST", test)) == [("print(loss)", "print-tensor")]
    assert found(RUN.replace("TEST", f"not ({test})")) == []


@pytest.mark.parametrize("test", ["config.checks", "config.saving", "getattr(config, 'checks', True) and not lazy"])
def test_settings_that_follow_from_the_kind_of_device_hold_on_it(test: str) -> None:
    assert found(RUN.replace("TEST", test)) == []


KEPT = """
class Part(torch.nn.Module):
    def __init__(self, saving=False):
        super().__init__()
        self.saving = saving
        self.inner = torch.nn.Linear(4, 4)

    def forward(self, x):
        if self.saving and self.training:
            print(x)
        return self.inner(x)

model = Part(saving=SAVING).to(device)
for _ in range(100):
    step(torch.ones(2, 4, device=device))
    torch_xla.sync()
"""


def test_they_hold_where_an_object_keeps_them() -> None:
    config = RUN.replace("TEST", "False").replace("train(Config())", "")
    assert found(config + KEPT.replace("SAVING", "Config.saving")) == []
    assert found(config + KEPT.replace("SAVING", "input()")) == [("print(x)", "print-tensor")]


STEPS = """
for i in range(100):
    loss = step(torch.ones(2, 4, device=device))
    torch_xla.sync()
    if TEST:
        print(loss + 1)
"""
TESTS = {
    "a broken loss": ("torch.isnan(loss)", [("if torch.isnan(loss):", "tensor-branch")]),
    "a loss that is not finite": (
        "not torch.isfinite(loss).all()",
        [("if not torch.isfinite(loss).all():", "tensor-branch")],
    ),
    "a whole loss": (
        "torch.isfinite(loss)",
        [("if torch.isfinite(loss):", "tensor-branch"), ("print(loss + 1)", "print-tensor")],
    ),
    "an interval": ("i % 10 == 0", [("print(loss + 1)", "periodic-read")]),
    "an interval beside a flag": ("input() or i % 10 == 0", [("print(loss + 1)", "periodic-read")]),
    "a flag": ("input()", [("print(loss + 1)", "print-tensor")]),
    "an interval beside a value": (
        "loss > 3 or i % 10 == 0",
        [("if loss > 3 or i % 10 == 0:", "tensor-branch"), ("print(loss + 1)", "print-tensor")],
    ),
}


@pytest.mark.parametrize(("test", "expected"), TESTS.values(), ids=TESTS)
def test_how_often_what_stands_under_a_test_runs(test: str, expected: list[tuple[str, str]]) -> None:
    assert found(STEPS.replace("TEST", test)) == expected


ROWS = """
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset
import torch_xla.distributed.parallel_loader as pl

def aligned(parts):
    longest = max(len(part) for part in parts)
    return torch.stack([torch.cat([p, torch.zeros(longest - len(p))]) for p in parts])

class Rows(Dataset):
    def __len__(self):
        return 1000

    def __getitem__(self, index):
        return ROW

def collate(rows):
    return BATCH

for batch in pl.MpDeviceLoader(DataLoader(Rows(), batch_size=SIZE, drop_last=True, collate_fn=collate), device):
    step(batch)
"""
PADDED = ("return torch.stack([torch.cat([p, torch.zeros(longest - len(p))]) for p in parts])", "dynamic-padding")
PADDING = {
    "rows of a batch": ("torch.ones(index % 7, 4)", "aligned(rows)", "8", [PADDED]),
    "a batch of one row": ("torch.ones(index % 7, 4)", "aligned(rows)", "1", []),
    "parts of a row": ("aligned([torch.ones(index % 7), torch.ones(index % 5)])", "torch.stack(rows)", "8", []),
}


@pytest.mark.parametrize(("row", "batch", "size", "expected"), PADDING.values(), ids=PADDING)
def test_padding_needs_several_rows(row: str, batch: str, size: str, expected: list[tuple[str, str]]) -> None:
    text = ROWS.replace("return ROW", f"return {row}")
    assert found(text.replace("BATCH", batch).replace("SIZE", size)) == expected


ENDLESS = """
from torch.utils.data import DataLoader, IterableDataset
import torch_xla.distributed.parallel_loader as pl

def rows():
    while LEFT:
        yield torch.ones(4)

class Rows(IterableDataset):
    def stream(self):
        while LEFT:
            yield torch.ones(4)

    def __iter__(self):
        ITERATES

for batch in pl.MpDeviceLoader(DataLoader(Rows(), batch_size=8), device):
    step(batch)
"""


@pytest.mark.parametrize("iterates", ["return rows()", "return self.stream()", "yield from rows()"])
def test_rows_that_never_end_leave_no_last_batch(iterates: str) -> None:
    text = ENDLESS.replace("ITERATES", iterates)
    assert found(text.replace("LEFT", "True")) == []
    assert [rule for _, rule in found(text.replace("LEFT", "input()"))] == ["ragged-batch"]


SHARED = """
import time
from accelerate import Accelerator
from accelerate.utils import broadcast
accelerator = Accelerator()
model, optimizer = accelerator.prepare(model, optimizer)
flag = torch.tensor(0, device=accelerator.device)
if accelerator.is_main_process and time.time() > 1e9:
    flag += 1
FLAG
if flag.item() == 1:
    accelerator.save_state("checkpoint")
"""


def test_what_accelerate_broadcasts_is_the_same_everywhere() -> None:
    told = ('accelerator.save_state("checkpoint")', "rank-divergence")
    assert told in found(SHARED.replace("FLAG", "accelerator.wait_for_everyone()"))
    assert told not in found(SHARED.replace("FLAG", "flag = broadcast(flag)"))


def test_a_barrier_for_one_replica_is_told_once_at_the_outermost_test() -> None:
    body = """
        def shrink(losses):
            if losses is not None and losses.shape[0] > 3:
                torch_xla.sync()
        losses = model(torch.ones(2, 4, device=device)) if xr.global_ordinal() == 0 else None
        if xr.global_ordinal() == 0:
            shrink(losses)
        """
    assert found(body) == [("shrink(losses)", "rank-divergence")]
