"""Several processes: the same outcomes, a crash that loses nothing, an interrupt that ends all."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from xla_lint.cli import many, processes
from xla_lint.cli.main import main

Captured = pytest.CaptureFixture[str]
SHARED = ("--no-cache", "--jobs=2", "--format=json")
PROGRAM = """\
import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(3, {number}).to(device)
for step in range(10):
    loss = model(torch.ones(3, 3, device=device)).sum()
    loss.backward()
    total = loss.item()
    torch_xla.sync()
"""
CRASH = """
import os, signal, sys, time
from pathlib import Path
from xla_lint.cli import many
from xla_lint.cli.main import main

def check_one(path, *rest):
    if "hang" in sys.argv[1:]:
        Path(path).with_suffix(".begun").touch()
        time.sleep(60)
    if path.startswith("crash"):
        os.kill(os.getpid(), signal.SIGKILL)
    return before(path, *rest)

before, many.check_one = many.check_one, check_one
signal.signal(signal.SIGINT, signal.default_int_handler)
many.WORTHWHILE = 2
sys.exit(main(["check", ".", "--no-cache", "--jobs=2"]))
"""
reaches_workers = pytest.mark.skipif(
    multiprocessing.get_start_method() != "fork", reason="what a test changes reaches other processes by fork alone"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with some scripts."""
    monkeypatch.chdir(tmp_path)
    for number in range(12):
        (tmp_path / f"train{number}.py").write_text(PROGRAM.format(number=number))
    (tmp_path / "broken.py").write_text("import torch_xla\nx = = 1\n")
    return tmp_path


def start(*arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    return subprocess.Popen(
        [sys.executable, "-c", CRASH, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.mark.usefixtures("folder")
def test_outcomes_are_the_same(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    begun: list[int] = []
    before = processes.ProcessPoolExecutor

    def noted(most: int, *rest: object, **named: object) -> object:
        begun.append(most)
        return before(most, *rest, **named)  # type: ignore[call-overload]

    monkeypatch.setattr(processes, "ProcessPoolExecutor", noted)
    assert main(["check", ".", *SHARED]) == 2
    one = capsys.readouterr()
    assert one.out.count('"symbol": "xla-value-read"') == 12
    assert begun == []
    monkeypatch.setattr(many, "WORTHWHILE", 2)
    assert main(["check", ".", *SHARED]) == 2
    assert capsys.readouterr() == one
    assert begun == [2]


@reaches_workers
def test_a_crash_is_reported_and_loses_nothing(folder: Path) -> None:
    (folder / "crash.py").write_text(PROGRAM)
    output, errors = start().communicate()
    assert output.count(" W9701 xla-value-read ") == 12
    assert f"xla-lint: crash.py: {processes.CRASHED}" in errors
    assert "broken.py:2: syntax error" in errors
    assert errors.splitlines()[-1] == "12 findings in 12 files (14 files checked, 2 problems)"


@reaches_workers
def test_an_interrupt_ends_all_processes(folder: Path) -> None:
    run = start("hang")
    deadline = time.monotonic() + 60
    while len(list(folder.glob("*.begun"))) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(run.pid, signal.SIGINT)
    output, errors = run.communicate(timeout=30)
    assert (run.returncode, output, errors) == (130, "", "xla-lint: interrupted\n")
