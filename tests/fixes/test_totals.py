"""When a total may stay on the device until its loop is done, and when it is left as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixes.test_pairs import after

PROGRAM = """\
import contextlib
import torch
import torch_xla
import torch_xla.distributed.parallel_loader as pl

device = torch_xla.device()
model = torch.nn.Linear(6, 3).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)


def train(batches, scale):
    total = 0.0
    for x, y in pl.MpDeviceLoader(batches, device):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total += loss.item()
    return total / len(batches)
"""
ADDED = "        total += loss.item()\n"


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("", "", ["total += loss.detach().float()", "total = float(total)"]),
        ("loss.item()", "float(loss)", ["total += loss.detach().float()", "total = float(total)"]),
        ("total = 0.0", "total = 0", ["total += loss.detach().float()", "total = float(total)"]),
        ("total = 0.0", "total: float = 0.0", ["total += loss.detach().float()", "total = float(total)"]),
        ("total = 0.0", "other, total = None, 0.0", ["total += loss.detach().float()", "total = float(total)"]),
        ("loss.item()", "loss.item() * len(x)", ["total += loss.detach().float() * len(x)", "total = float(total)"]),
        ("loss.item()", "loss.item() / scale", ["total += loss.detach().float() / scale", "total = float(total)"]),
        ("loss.item()", "(2 * loss).item()", ["total += (2 * loss).detach().float()", "total = float(total)"]),
        ("    return", "    print(total)\n    return", ["total += loss.detach().float()", "total = float(total)"]),
    ],
)
def test_a_total_that_is_seen_behind_the_loop(tmp_path: Path, old: str, new: str, lines: list[str]) -> None:
    assert after(tmp_path, PROGRAM.replace(old, new, 1) if old else PROGRAM) == lines


def test_a_loss_that_is_evaluated(tmp_path: Path) -> None:
    text = PROGRAM.replace("        loss.backward()\n        optimizer.step()\n        optimizer.zero_grad()\n", "")
    text = text.replace("total = 0.0", "total = 0").replace("    return", "    torch_xla.sync()\n    return")
    assert after(tmp_path, text) == ["total += loss.detach().float()", "total = float(total)"]


COUNT = PROGRAM.replace("total = 0.0", "total = 0").replace("loss.item()", "(model(x).argmax(1) == y).sum().item()")


@pytest.mark.parametrize("counted", ["(model(x).argmax(1) == y)", "model(x).argmax(1).eq(y)"])
def test_a_count_is_exact_and_safe(tmp_path: Path, counted: str) -> None:
    text = COUNT.replace("(model(x).argmax(1) == y)", counted)
    assert after(tmp_path, text) == [f"total += {counted}.sum()", "total = int(total)"]


def test_a_total_at_the_end_of_a_file(tmp_path: Path) -> None:
    head, body = PROGRAM.split("def train(batches, scale):\n")
    script = head + "batches, scale = [], 1\n" + "\n".join(line[4:] for line in body.splitlines()[:-1])
    assert after(tmp_path, script) == ["total += loss.detach().float()", "total = float(total)"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (ADDED, ADDED + "        print(total)\n"),
        (ADDED, ADDED + "        if total > 3:\n            break\n"),
        (ADDED, ADDED + "    else:\n        print(total)\n"),
        (ADDED, ADDED + "        total = 0.0\n"),
        (ADDED, ADDED + "    show = lambda: total\n"),
        ("total = 0.0", "total = scale"),
        ("total = 0.0", "total = torch.zeros(1)"),
        ("total = 0.0", "global total\n    total = 0.0"),
        ("    total = 0.0\n", ""),
        ("loss.item()", "round(loss.item(), 3)"),
        ("loss.item()", "int(loss)"),
        ("loss.item()", "1 / loss.item()"),
        ("loss.item()", "loss.item() + scale"),
        ("loss.item()", "scale.mean() * loss.item()"),
        ("total +=", "total -="),
        ("total = 0.0", "total = 0\n    for y in []: pass"),
    ],
)
def test_one_that_may_be_seen_before_or_be_something_else(tmp_path: Path, old: str, new: str) -> None:
    text = PROGRAM.replace(old, new, 1)
    assert text != PROGRAM
    if "y in []" in new:
        text = text.replace("loss.item()", "y.sum().item()")
    assert after(tmp_path, text) == []


@pytest.mark.parametrize(
    ("head", "tail"),
    [("try:", "except KeyboardInterrupt:\n        pass"), ("with contextlib.suppress(OSError):", "")],
)
def test_a_loop_that_an_error_may_leave(tmp_path: Path, head: str, tail: str) -> None:
    begin, rest = PROGRAM.split("    for x, y in")
    body, end = rest.split("    return")
    loop = "".join(f"    {line}\n" for line in f"    for x, y in{body}".splitlines())
    text = f"{begin}    {head}\n{loop}    {tail}\n    return{end}"
    assert after(tmp_path, text) == []


def test_where_no_barrier_follows_in_each_turn(tmp_path: Path) -> None:
    text = PROGRAM.replace("pl.MpDeviceLoader(batches, device)", "batches")
    assert after(tmp_path, text) == []
