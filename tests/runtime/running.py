"""Running a program under `xla-lint run`, for the tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
TRAIN = """\
import os, sys
import torch, torch_xla
import torch_xla.debug.metrics as met
import torch_xla.core.xla_model as xm

device = torch_xla.device()
weight = torch.ones(4, device=device)

def train(steps, at=None, then=None):
    for step in range(steps):
        if step == at:
            then()
        loss = (weight * step).sum()
        loss.item()
        torch_xla.sync()

def total(*names):
    return sum((met.metric_data(name) or [0])[0] for name in names)

def totals():
    xm.wait_device_ops()
    while total("ExecuteTime", "EagerOpExecuteTime") < (met.counter_value("ExecuteComputation") or 0):
        pass  # they are counted a moment after their end
    return [total("CompileTime"), total("ExecuteTime"), total("TransferFromDeviceTime")]
"""
READ, BARRIER, LAST = 14, 15, TRAIN.count("\n")
"""The lines of TRAIN."""


@dataclass
class Ran:
    status: int
    out: str
    err: str
    report: dict[str, Any]

    def row(self, line: int) -> dict[str, Any]:
        (row,) = [row for row in self.report["rows"] if row["line"] == line]
        return row

    def total(self, name: str) -> int:
        return sum(row[name] for row in self.report["rows"])


def run(folder: Path, script: str, *options: str, arguments: tuple[str, ...] = (), **variables: str) -> Ran:
    (folder / "train.py").write_text(TRAIN + script)
    return command(folder, *options, "train.py", *arguments, **variables)


def command(folder: Path, *arguments: str, **variables: str) -> Ran:
    report = folder / "report.json"
    environment = {**os.environ, "PJRT_DEVICE": "CPU", "PYTHONPATH": str(ROOT), **variables}
    done = subprocess.run(
        [sys.executable, "-m", "xla_lint", "run", "--json", str(report), *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        start_new_session=True,  # without a terminal, whose Ctrl-C would reach the program by itself
    )
    assert report.exists(), done.stderr
    return Ran(done.returncode, done.stdout, done.stderr, json.loads(report.read_text()))
