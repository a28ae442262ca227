"""When a list may hold tensors until its loop is done, and when it is left as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixes.test_pairs import after

PROGRAM = """\
import torch
import torch_xla
import torch_xla.distributed.parallel_loader as pl

device = torch_xla.device()
model = torch.nn.Linear(6, 3).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)


def train(batches, told):
    losses = []
    for x, y in pl.MpDeviceLoader(batches, device):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return sum(losses)
"""
GIVEN = "losses.append(loss.detach())"
READ = "losses[:] = [float(value) for value in losses]"


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("", "", [GIVEN, READ]),
        ("loss.item()", "float(loss)", [GIVEN, READ]),
        ("loss.item()", "loss.detach().item()", [GIVEN, READ]),
        ("losses = []", "losses: list[float] = []", [GIVEN, READ]),
        ("losses = []", "other, losses = None, []", [GIVEN, READ]),
        (
            "loss.item()",
            "(2 * loss).item()",
            ["losses.append((2 * loss).detach())", "losses[:] = [value.item() for value in losses]"],
        ),
        (
            "loss.item()",
            "model(x).argmax().item()",
            ["losses.append(model(x).argmax().detach())", "losses[:] = [value.item() for value in losses]"],
        ),
        ("    return", "    print(losses)\n    return", [GIVEN, READ]),
        (
            "loss = torch.nn.functional.cross_entropy(model(x), y)",
            "parts = torch.nn.functional.cross_entropy(model(x), y, reduction='none')\n        loss = parts[0]",
            [GIVEN, READ],
        ),
    ],
)
def test_a_list_that_is_seen_behind_the_loop(tmp_path: Path, old: str, new: str, lines: list[str]) -> None:
    assert after(tmp_path, PROGRAM.replace(old, new, 1) if old else PROGRAM) == lines


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("losses = []", "losses = told"),
        ("losses = []", "losses = [0.0]"),
        ("losses = []", "losses = others = []"),
        ("losses = []", "losses = []\n    told.losses = losses"),
        ("    return sum(losses)", "        print(losses[-1])"),
        ("    return sum(losses)", "        told(lambda: losses)"),
        ("        losses.append", "        losses.append(len(x))\n        losses.append"),
        ("losses.append(loss.item())", "losses.append(round(loss.item(), 3))"),
        ("losses.append(loss.item())", "losses.insert(0, loss.item())"),
        ("losses.append(loss.item())", "told.losses.append(loss.item())"),
        ("losses.append(loss.item())", "losses.append(loss.item())\n        loss += 1"),
        ("losses.append(loss.item())", "losses.append(loss.item())\n        loss.mul_(2)"),
        ("losses.append(loss.item())", "losses.append(loss.item())\n        loss[...] = 0"),
        ("loss = torch.nn.functional.cross_entropy(model(x), y)", "loss = told.running"),
    ],
)
def test_one_that_may_be_seen_before_or_changed_later_is_left(tmp_path: Path, old: str, new: str) -> None:
    text = PROGRAM.replace(old, new, 1)
    assert text != PROGRAM
    assert not any("[:]" in line for line in after(tmp_path, text))


def test_a_list_that_would_be_read_in_steps_of_another_loop_is_left(tmp_path: Path) -> None:
    step = "    loss = model(x).sum()\n    loss.backward()\n    optimizer.step()\n    train([], None)\n"
    text = f"{PROGRAM}\n\nfor x, y in pl.MpDeviceLoader([], device):\n{step}"
    assert not any("[:]" in line for line in after(tmp_path, text))


def test_numbers_of_earlier_turns_stay_what_they_are(tmp_path: Path) -> None:
    """Where a loop is around, only what is right for numbers too may be done to the list."""
    head, _, body = PROGRAM.partition("    for x")
    nested = (
        head + "    for _ in range(3):\n" + "".join(f"    {line}\n" for line in f"    for x{body}".splitlines()[:-1])
    )
    assert after(tmp_path, nested) == [GIVEN, READ]
    assert after(tmp_path, nested.replace("loss.item()", "model(x).argmax().item()")) == []
