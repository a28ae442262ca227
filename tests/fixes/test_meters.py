"""When what a step notes in a meter or on a list may be handed to a step closure, and when it is left as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixes.test_lists import after

PROGRAM = """\
import torch
import torch_xla.core.xla_model as xm
import torch_xla.distributed.parallel_loader as pl
from meters import AverageMeter

device = xm.xla_device()
model = torch.nn.Linear(6, 3).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)


def train(batches, given):
    meter = AverageMeter()
    for x, y in pl.MpDeviceLoader(batches, device):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        xm.optimizer_step(optimizer)
        meter.update(loss.item())
    return meter.avg
"""
LATER = "xm.add_step_closure(lambda loss: meter.update(loss.item()), args=(loss,))"


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("", "", LATER),
        ("meter = AverageMeter()", "meter = given()", LATER),
        ("meter = AverageMeter()", "meter = []\n    meter.append(0)", LATER),
        ("update(loss.item())", "append(round(loss.item(), 3))", None),
        ("loss.item())", "loss.item(), x.size(0))", None),
    ],
)
def test_what_is_only_seen_behind_the_loop(tmp_path: Path, old: str, new: str, line: str | None) -> None:
    (found,) = after(tmp_path, PROGRAM.replace(old, new, 1) if old else PROGRAM)
    assert found == line or (line is None and found.startswith("xm.add_step_closure(lambda loss"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        meter.update(loss.item())", "        meter.update(loss.item())\n        print(meter.avg)"),
        ("        meter.update(loss.item())", "        meter.update(loss.item())\n        given(lambda: meter)"),
        ("        meter.update(loss.item())", "        meter.update(loss.item())\n        if given: break"),
        ("meter.update(loss.item())", "given.meter.update(loss.item())"),
        ("meter.update(loss.item())", "meter.step(loss.item())"),
        ("meter.update(loss.item())", "meter.update(loss.item())\n        loss += 1"),
        ("meter.update(loss.item())", "meter.update(loss.item())\n        loss.mul_(2)"),
        ("meter.update(loss.item())", "meter.update(loss.item())\n        loss[...] = 0"),
        ("meter = AverageMeter()", "meter = given"),
        ("meter = AverageMeter()", "meter = given.meter = AverageMeter()"),
        ("meter = AverageMeter()", "meter = AverageMeter()\n    given(meter)"),
        ("    meter = AverageMeter()\n", "    global meter\n    meter = AverageMeter()\n"),
    ],
)
def test_what_may_be_seen_before_is_left(tmp_path: Path, old: str, new: str) -> None:
    text = PROGRAM.replace(old, new, 1)
    assert text != PROGRAM
    assert after(tmp_path, text) == []
