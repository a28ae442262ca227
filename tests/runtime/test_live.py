"""What `xla-lint run` says while a real program goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.runtime.running import command

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """\
import os, signal, sys, time
import torch, torch_xla

device = torch_xla.device()
weight = torch.ones(6, 6, device=device)

def say(text):
    time.sleep(1.5)  # for whoever looks on
    print(text, file=sys.stderr, flush=True)

def ask():
    time.sleep(1)
    os.kill(os.getppid(), signal.SIGUSR1)

def after(number):
    for then in AFTER.get(number, ()):
        then()

AFTER = {after}
for number in range(24):
    batch = torch.randn(3 if number == 20 else 4, 6).to(device)
    out = (batch @ weight).sum()
    torch_xla.sync()
    after(number)
"""


def lines(folder: Path, after: str) -> list[str]:
    (folder / "train.py").write_text(HEAD.replace("{after}", after))
    ran = command(folder, "train.py")
    assert ran.status == 0, ran.err
    return ran.err.splitlines()


def test_a_recompile_is_told_while_the_program_goes_on(tmp_path: Path) -> None:
    told = lines(tmp_path, "{19: [lambda: say('warm')], 20: [lambda: say('short')], 21: [lambda: say('end')]}")
    words = "recompiled once at train.py:23 because input 1 is f32[3,6], and was f32[4,6] (batch at train.py:21)"
    assert told.index("warm") < told.index(f"xla-lint run: step 21: {words}") < told.index("end")
    report = " ".join(told[told.index("end") :])
    assert f"{words}; see xla-ragged-batch, " in report


def test_a_summary_is_written_on_request(tmp_path: Path) -> None:
    told = lines(tmp_path, "{18: [lambda: time.sleep(1)], 19: [ask, lambda: say('end')]}")
    so_far, last = (number for number, each in enumerate(told) if "compiles (" in each)
    assert "20 executions" in told[so_far]
    assert told[so_far].endswith("; the program goes on")
    assert told[so_far + 2].startswith("train.py:23 ")
    assert so_far < told.index("end") < last
    assert told[last].endswith("; the program ended well")


def test_a_program_that_handles_the_signal_gets_it_too(tmp_path: Path) -> None:
    told = lines(tmp_path, "{1: [lambda: signal.signal(signal.SIGUSR1, lambda *_: say('mine')), ask]}")
    assert told.count("mine") == 1
    assert sum("goes on" in each for each in told) == 1
