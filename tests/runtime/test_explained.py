"""Recompiles and graphs without a barrier, explained on real programs: what is said is what differs, and no more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.runtime.running import Ran, command

HEAD = """\
import torch, torch_xla
from torch import nn

device = torch_xla.device()
"""
SEVERAL = """\
model = nn.Linear(6, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def cut():
    torch_xla.sync()  # for both

def ragged():
    for number, count in enumerate([4, 4, 4, 4, 4, 4, 3] * 2):
        optimizer.zero_grad()
        rows = torch.randn(count, 6).to(device)
        loss = model(rows).mean()
        loss.backward()
        optimizer.step()
        cut()  # the training step
        if number % 3 == 2:
            smooth = torch.stack([p.detach().norm() for p in model.parameters()]).sum()
            cut()  # the metric

def several_reads():
    for _ in range(6):
        first, second = (model.weight * 2).sum(), (model.bias + 1).mean()
        print([value.item() for value in (first, second)])
        torch_xla.sync()  # after several reads

def two_modes():
    net = nn.Sequential(nn.Linear(6, 6), nn.Dropout(0.5)).to(device)
    for step in range(8):
        net.train(step % 4 != 0)
        out = net(torch.randn(4, 6).to(device)).mean()
        torch_xla.sync()  # of two modes

def two_types():
    weight = torch.randn(6, 6).to(device)
    for step in range(8):
        values = torch.randn(4, 6).to(torch.bfloat16 if step % 4 == 3 else torch.float32).to(device)
        out = values.float() @ weight
        torch_xla.sync()  # of two types

def two_causes():
    for step in range(9):
        table = torch.randn(4 + step % 3, 6).to(device)
        out = (table * 2).roll(step, 1)
        torch_xla.sync()  # of two causes

ragged(), several_reads(), two_modes(), two_types(), two_causes()
"""


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("several")
    (folder / "train.py").write_text(HEAD + SEVERAL)
    return command(folder, "train.py")


def reasons(ran: Ran, text: str, script: str = HEAD + SEVERAL) -> list[dict[str, Any]]:
    """What is said of the line of a script that holds a text."""
    (line,) = [number for number, each in enumerate(script.splitlines(), 1) if text in each]
    return [each for each in ran.report["reasons"] if each["line"] == line]


def test_a_ragged_batch_behind_a_helper(several: Ran) -> None:
    (reason,) = reasons(several, "torch_xla.sync()  # for both")
    assert reason["words"] == "input 2 is f32[3,6], and was f32[4,6]"
    (told,) = reason["differences"]
    assert (told["tensor"], told["before"], told["after"]) == ("rows", "f32[4,6]", "f32[3,6]")
    assert (HEAD + SEVERAL).splitlines()[told["line"] - 1].strip().startswith("rows = ")
    assert reason["rule"] == "xla-ragged-batch"


def test_a_compile_tells_where_its_inputs_come_from(several: Ran) -> None:
    script = (HEAD + SEVERAL).splitlines()
    short = next(
        each
        for each in several.report["parts"][0]["compiles"]
        if any(given["shape"] == "f32[3,6]" for given in each["given"])
    )
    told = {given["shape"]: (given["number"], given["tensor"], given["source"]) for given in short["given"]}
    assert told["f32[3,6]"] == (1, "rows", "rows = torch.randn(count, 6).to(device)")
    assert script[short["given"][0]["line"] - 1].strip() == short["given"][0]["source"]
    assert set(short["memory"]) == {"inputs", "outputs", "aliased", "temporary", "program"}


def test_several_reads_of_a_line_are_no_recompile(several: Ran) -> None:
    assert reasons(several, "print([value.item()") == []


def test_two_modes_are_not_a_second_step(several: Ran) -> None:
    (reason,) = reasons(several, "# of two modes")
    assert "aten::bernoulli" in reason["words"]
    assert reason["rule"] == ""


def test_a_type_is_no_shape(several: Ran) -> None:
    (reason,) = reasons(several, "# of two types")
    assert reason["words"].startswith("input 1 is bf16[4,6], and was f32[4,6]")
    assert reason["rule"] == ""


def test_two_causes_are_two(several: Ran) -> None:
    told = reasons(several, "# of two causes")
    assert {each["rule"] for each in told if each["explained"]} == {"xla-changing-constant", "xla-changing-shape"}
    assert any("aten::roll" in each["words"] for each in told)
    assert any(each["what"] == "shape of an input" for reason in told for each in reason["differences"])


def test_rows_add_up(several: Ran) -> None:
    for name in ("compiles", "executions", "reads"):
        assert several.total(name) == several.report["totals"][name]


UNCUT = """\
model = nn.Sequential(nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 1)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batches = [torch.randn(4, 6) for _ in range(12)]

def train():
    for batch in batches:
        optimizer.zero_grad()
        model(batch.to(device)).mean().backward()
        optimizer.step()
        torch_xla.sync()

def validate():
    total = torch.zeros((), device=device)
    with torch.no_grad():
        for batch in batches:
            out = model(batch.to(device))
            total += out.square().mean()
    return total.item()  # after validation

def accumulate():
    for number in range(3):
        optimizer.zero_grad()
        for micro in batches[:4]:
            loss = model(micro.to(device)).mean()
            loss.backward()
        optimizer.step()
        torch_xla.sync()  # after accumulation

for _ in range(2):
    train()
    validate()
accumulate()
"""


def test_loops_without_a_barrier(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(HEAD + UNCUT)
    ran = command(tmp_path, "train.py")
    lines = (HEAD + UNCUT).splitlines()
    found = {lines[each["line"] - 1].partition("# ")[2]: each for each in ran.report["uncut"]}
    validation, accumulation = found["after validation"], found["after accumulation"]
    assert (validation["rule"], validation["optimizer_steps"]) == ("xla-missing-sync", 0)
    assert 10 <= validation["turns"] <= 12  # operations may begin to note their lines after the first turn
    assert lines[validation["loop_first"] - 1].strip() == "out = model(batch.to(device))"
    assert (accumulation["turns"] >= 3, accumulation["optimizer_steps"]) == (True, 1)


NO_BARRIER = """\
layer = nn.Linear(6, 1).to(device)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
total = 0.0
for _ in range({turns}):
    out = layer(torch.randn(4, 6, device=device)).mean()
    {step}
    {read}
print(out.item())
"""


def test_training_without_a_barrier(tmp_path: Path) -> None:
    step = "out.backward(); optimizer.step(); optimizer.zero_grad()"
    (tmp_path / "train.py").write_text(HEAD + NO_BARRIER.format(turns=6, step=step, read="pass"))
    ran = command(tmp_path, "--max-compiles", "0", "train.py")
    assert ran.status == 3
    (uncut,) = ran.report["uncut"]
    assert (uncut["optimizer_steps"], uncut["rule"]) == (6, "xla-missing-sync")
    (part,) = ran.report["parts"]
    assert (part["steps"], part["step"], part["barriers"]) == (6, "optimizer step", 0)
    assert "no barrier was reached; a step is taken to be one of the optimizer at train.py:10" in ran.err


def test_graphs_that_grow(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(HEAD + NO_BARRIER.format(turns=6, step="pass", read="total += out.item()"))
    ran = command(tmp_path, "--max-compiles", "1", "--max-reads-per-step", "0.5", "train.py")
    assert ran.status == 3
    (reason, *_) = ran.report["reasons"]
    assert "its graphs grow, since no barrier cuts them" in reason["words"]
    assert reason["rule"] == "xla-missing-sync"
    compiled, read = ran.report["broken"]
    assert "after 3 steps, 1 allowed: train.py:11" in compiled
    assert "read 1 times a step after 3 steps, 0.5 allowed: train.py:11" in read


def test_three_barriers_in_a_step(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        HEAD + "weight = torch.ones(4, device=device)\nfor _ in range(8):\n"
        "    a = weight * 2\n    torch_xla.sync()\n    b = a + 1\n    torch_xla.sync()\n"
        "    c = b * b\n    torch_xla.sync()\n"
    )
    ran = command(tmp_path, "--max-executions-per-step", "1", "train.py")
    assert ran.status == 3
    (part,) = ran.report["parts"]
    assert (part["steps"], part["barriers"]) == (8, 24)
    assert "executed 3 graphs a step after 3 steps, 1 allowed: train.py:8" in ran.report["broken"][0]
    assert {row["rule"] for row in ran.report["rows"]} >= {"xla-split-step"}
