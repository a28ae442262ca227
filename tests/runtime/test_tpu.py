"""Programs on TorchTPU, with a stand-in for it on the real torch: what is counted, and what is said to be missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runtime.running import ROOT, Ran, command

STAND_IN = Path(__file__).parent / "tpu_stand_in"
PATH = os.pathsep.join([str(ROOT), str(STAND_IN)])
TRAIN = """\
import os, sys, torch
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def train(lengths):
    for length in lengths:
        torch.tpu.execute("forward")
        torch.tpu.execute(f"loss of {length}")
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()

"""
STEP = 10
"""The line of TRAIN at which a step ends."""
NEVER = "never run on a TPU"


def run(folder: Path, script: str, *options: str, **variables: str) -> Ran:
    (folder / "train.py").write_text(TRAIN + script)
    return command(folder, *options, "train.py", PYTHONPATH=PATH, **variables)


def test_counts_and_what_is_missing(tmp_path: Path) -> None:
    ran = run(tmp_path, "train([8, 8, 8, 8, 5, 8, 6])\ntorch.tpu.execute('from disk', on_disk=True)\n")
    assert ran.status == 0, ran.err
    (use,) = ran.report["tpu"]
    assert use["lookups"] == {"asked": 15, "found": 10}
    assert use["executables"] == {"number": 5, "once": 3, "free": 1, "seconds": 1.0}
    assert use["complete"]
    assert (use["steps"], use["warm_steps"], use["warm_compiles"]) == (7, 4, 3)
    assert use["late"] == {"step 5": 1, "step 7": 1, "the rest": 1}
    assert (Path(use["step_file"]).name, use["step_line"]) == ("train.py", STEP)
    totals = ran.report["totals"]
    assert (totals["compiles"], totals["compile_seconds"]) == (5, 1.0)
    assert totals["executions"] is totals["reads"] is totals["execute_seconds"] is None
    assert ran.report["parts"] == ran.report["rows"] == ran.report["problems"] == []
    assert "5 compiles (1.0 s), executions not known, reads not known, 7 steps" in ran.err
    told = " ".join(ran.err.split())
    assert f"a step ends with the optimizer's at train.py:{STEP}" in told
    assert NEVER in told


@pytest.mark.parametrize(
    ("limit", "status", "said"),
    [
        ("--max-compiles=2", 0, ""),
        ("--max-compiles=1", 3, "compiled 2 graphs after 3 steps, 1 allowed: step 5 (1), step 6 (1)"),
        ("--max-reads-per-step=9", 3, "reads are not known on torch.tpu, so that no limit on them can be said to hold"),
        ("--max-executions-per-step=9", 3, "executions are not known"),
        ("--fail-on-fallback", 3, "fallbacks are not known"),
    ],
)
def test_limits(tmp_path: Path, limit: str, status: int, said: str) -> None:
    ran = run(tmp_path, "train([8, 8, 8, 8, 5, 6])\n", limit)
    assert ran.status == status, ran.err
    assert bool(ran.report["broken"]) == bool(status)
    assert said in "".join(ran.report["broken"])


def test_a_program_that_never_became_warm(tmp_path: Path) -> None:
    ran = run(tmp_path, "train([8, 5])\n", "--max-compiles=9")
    assert ran.status == 3
    assert ran.report["broken"] == ["the program never became warm, with 2 steps; see --warmup"]


def test_without_steps_limits_hold_of_everything(tmp_path: Path) -> None:
    ran = run(tmp_path, "for n in range(4):\n    torch.tpu.execute(f'prefill {n}')\n", "--max-compiles=3")
    assert ran.status == 3
    assert "compiled 4 graphs, 3 allowed" in ran.report["broken"][0]
    assert "no step of an optimizer was seen" in " ".join(ran.err.split())


@pytest.mark.parametrize("leave", ["sys.exit(5)", "os._exit(5)", "raise SystemExit(5)"])
def test_ends(tmp_path: Path, leave: str) -> None:
    ran = run(tmp_path, f"train([8, 5])\n{leave}\n")
    assert ran.status == 5, ran.err
    assert ran.report["tpu"][0]["complete"]
    assert ran.report["totals"]["compiles"] == 3


def test_a_killed_program_has_left_its_last_counts(tmp_path: Path) -> None:
    ran = run(tmp_path, "import signal, time\ntrain([8])\ntime.sleep(1.1)\ntrain([8])\nos.kill(os.getpid(), 9)\n")
    (use,) = ran.report["tpu"]
    assert (use["complete"], use["lookups"]["asked"]) == (False, 4)
    assert "ended without warning" in " ".join(ran.err.split())


def test_forked_children_leave_nothing(tmp_path: Path) -> None:
    script = "train([8])\nif not os.fork():\n    torch.tpu.execute('no')\n    os._exit(0)\nos.wait()\n"
    ran = run(tmp_path, script)
    (use,) = ran.report["tpu"]
    assert use["lookups"]["asked"] == 2


def test_nothing_was_asked_for(tmp_path: Path) -> None:
    ran = run(tmp_path, "print(torch.tpu)\n", "--max-compiles=0")
    assert ran.status == 3
    assert "TorchTPU was loaded, and its cache was asked for nothing" in ran.report["problems"][0]
    assert "nothing was recorded" in ran.report["broken"][0]


def test_another_vendors_package_of_that_name(tmp_path: Path) -> None:
    (tmp_path / "torch_tpu.py").write_text("")
    (tmp_path / "train.py").write_text("import torch_tpu\n")
    ran = command(tmp_path, "train.py", TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    assert ran.status == 0, ran.err
    assert ran.report["problems"] == ran.report["tpu"] == []


@pytest.mark.parametrize("tells", ["nothing", "otherwise"])
def test_a_release_with_other_statistics(tmp_path: Path, tells: str) -> None:
    ran = run(tmp_path, "train([8, 5])\n", "--max-compiles=9", STAND_IN_TELLS=tells)
    assert ran.status == 3
    assert "this release of TorchTPU tells nothing by torch.tpu._get_cache_stats()" in ran.report["problems"][0]
    assert ran.report["broken"] == ["nothing was recorded, so that no limit can be said to hold"]


def test_processes_of_both_backends(tmp_path: Path) -> None:
    script = """
import subprocess
other = "import torch, torch_xla; torch.ones(2, device=torch_xla.device()).add_(1).sum().item()"
subprocess.run([sys.executable, "-c", other], check=True)
train([8] * 4)
"""
    ran = run(tmp_path, script)
    assert ran.status == 0, ran.err
    assert (len(ran.report["parts"]), len(ran.report["tpu"])) == (1, 1)
    assert ran.report["totals"]["compiles"] == 2 + ran.report["parts"][0]["counts"]["compiles"]
    assert ran.report["totals"]["reads"] is None


def test_pages(tmp_path: Path) -> None:
    ran = run(tmp_path, "train([8] * 4)\n", f"--html={tmp_path}/run.html", f"--markdown={tmp_path}/run.md")
    assert ran.status == 0, ran.err
    for page in ("run.html", "run.md"):
        text = (tmp_path / page).read_text()
        assert text.count("not known") == 2
        assert "these are missing, not 0" in text.replace("&#39;", "'")
        assert NEVER in text


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": PATH},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_budgets_in_code(tmp_path: Path) -> None:
    script = """
from xla_lint.runtime import TooManyCompilesError, assert_max_compiles

with assert_max_compiles(2):
    train([8, 8])
with assert_max_compiles(0, after=2):
    train([5, 6, 8, 5])
assert "torch_xla" not in sys.modules

@assert_max_compiles(1)
def infer(length):
    torch.tpu.execute(f"prefill {length}")

infer(1)
try:
    with assert_max_compiles(0, after=1):
        train([8, 7, 8])
        torch.tpu.execute("after")
except TooManyCompilesError as error:
    print(error)
try:
    infer(2)
except TooManyCompilesError as error:
    print(error)
"""
    (tmp_path / "train.py").write_text(TRAIN + script)
    done = python(tmp_path, "train.py")
    first, after, last, unknown, never, *second = done.stdout.splitlines()
    assert first == "2 graphs were compiled after the first 1 steps, 0 allowed:", done.stderr
    assert (after, last) == ("  in step 2 of an optimizer", "  in step 4 of an optimizer")
    assert "these are missing, not 0" in unknown
    assert NEVER in never
    assert second[0] == "4 graphs were compiled, 1 allowed:"


def test_the_marker_and_the_fixture(tmp_path: Path) -> None:
    script = """
import pytest

@pytest.mark.xla_compile_budget(2)
def test_holds():
    train([8, 8])

@pytest.mark.xla_compile_budget(0, after=1)
def test_breaks():
    train([8, 3])

def test_part(xla_compile_budget):
    torch.tpu.execute("setup")
    with xla_compile_budget(0):
        torch.tpu.execute("setup")
"""
    (tmp_path / "test_train.py").write_text(TRAIN + script)
    options = ["-m", "pytest", "-q", "-p", "no:cacheprovider"]
    plugin = python(tmp_path, "-c", "from importlib.metadata import entry_points as e; print(e(group='pytest11'))")
    if "xla_lint" not in plugin.stdout:
        options += ["-p", "xla_lint.runtime.pytest_plugin"]
    done = python(tmp_path, *options, "test_train.py")
    assert "1 failed, 2 passed" in done.stdout, done.stdout
    assert "1 graph was compiled after the first 1 steps, 0 allowed:" in done.stdout
    assert NEVER in done.stdout
    assert "Traceback" not in done.stdout
