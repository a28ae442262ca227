"""`xla-lint run` on real programs: the report is right or says what it lacks, and the program does not notice."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.runtime.running import BARRIER, LAST, READ, ROOT, TRAIN, command, run

FIXTURES = ROOT / "tests" / "fixtures"


def test_totals_and_lines(tmp_path: Path) -> None:
    ran = run(tmp_path, "train(6)\nprint(sys.argv, *sys.path[:2], __name__, *totals())\n", arguments=("--rate", "1"))
    assert ran.status == 0
    argv, _, rest = ran.out.partition("] ")
    assert argv == "['train.py', '--rate', '1'"
    folder, packages, name, *numbers = rest.split()
    assert (folder, packages, name) == (str(tmp_path), str(ROOT), "__main__")
    totals = ran.report["totals"]
    assert [totals["compiles"], totals["executions"], totals["reads"]] == [int(number) for number in numbers]
    assert ran.row(READ)["executions"] == ran.row(READ)["reads"] == 6
    assert ran.row(BARRIER)["executions"] == 6
    assert ran.row(READ)["rule"] == "xla-value-read"
    assert ran.row(READ)["seen"] == "found by the linter too"
    assert ran.row(BARRIER)["cause"] == "barrier"
    for name in ("compiles", "executions", "reads"):
        assert ran.total(name) == totals[name]
    assert "train.py:14" in ran.err


def test_what_has_no_python_frame_is_counted_as_such(tmp_path: Path) -> None:
    script = """
layer = torch.nn.Linear(4, 4).to(device)
for _ in range(3):
    torch.nn.functional.glu(layer(torch.ones(2, 4, device=device))).sum().backward()
    torch_xla.sync()
"""
    ran = run(tmp_path, script)
    (rest,) = [row for row in ran.report["rows"] if not row["file"]]
    assert rest["executions"] == 3
    assert ran.total("executions") == ran.report["totals"]["executions"] == 6
    assert ran.total("compiles") == ran.report["totals"]["compiles"] == 3
    assert ran.report["fallbacks"] == {"aten::glu_backward": 3}


def test_the_traceback_of_a_read_that_fails_keeps_no_tensor_alive(tmp_path: Path) -> None:
    script = """
import traceback
def step(x):
    return (x * 2).sum().item()
try:
    torch_xla.compile(step, full_graph=True)(torch.ones(3).to(device))
except RuntimeError as error:
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__) if "xla_lint" in frame.f_code.co_filename]
    kept = [values for frame in frames for values in frame.f_locals.values() if type(values) is tuple]
    print(len(frames) > 0, kept, error)
"""
    ran = run(tmp_path, script)
    assert ran.out.strip() == "True [] Unexpected execution happens inside the compiled function, exiting"


def test_reads_in_the_autograd_thread_disturb_nobody(tmp_path: Path) -> None:
    script = """
layer = torch.nn.Linear(4, 1).to(device)
with torch.autograd.detect_anomaly(check_nan=True):
    layer(torch.ones(2, 4, device=device)).mean().backward()
torch_xla.sync()
print(totals()[2])
"""
    ran = run(tmp_path, script)
    assert ran.status == 0, ran.err
    assert ran.report["notes"] == []
    assert ran.total("reads") == int(ran.out) > 0


def test_eager_mode_and_dynamo_add_up(tmp_path: Path) -> None:
    script = """
f = torch.compile(lambda x: (x * 2).sum(), backend="openxla")
for rows in (2, 2, 3):
    f(torch.ones(rows, device=device)).item()
train(2)
torch_xla.experimental.eager_mode(True)
(torch.ones(3, device=device) + 1).sum().item()
print(*totals(), total("EagerOpExecuteTime"))
"""
    ran = run(tmp_path, script)
    _, executions, reads, eager = map(int, ran.out.split())
    assert ran.report["totals"]["executions"] == executions + eager
    assert ran.total("executions") == executions + eager
    assert ran.total("reads") == reads


def test_an_exception_in_step_seven(tmp_path: Path) -> None:
    ran = run(tmp_path, "def fail():\n    raise ValueError('seven')\ntrain(9, 7, fail)\n")
    assert ran.status == 1
    assert "ValueError: seven" in ran.err
    assert ran.report["parts"][0]["steps"] == 7
    assert ran.row(READ)["executions"] == 7
    assert ran.report["ended"] == "ended with exit status 1"


@pytest.mark.parametrize("leave", ["sys.exit(5)", "os._exit(5)"])
def test_the_exit_status_is_kept(tmp_path: Path, leave: str) -> None:
    ran = run(tmp_path, f"train(5, 4, lambda: {leave})\n", "--max-compiles", "0", "--warmup", "0")
    assert ran.status == 5
    assert ran.report["totals"]["reads"] == 4
    assert ran.row(READ)["executions"] == 4
    assert ran.report["parts"][0]["complete"]
    assert ran.report["broken"]


def test_killed_by_sigterm(tmp_path: Path) -> None:
    script = """
import signal, time
def die():
    time.sleep(1.2)
    loss = weight.sum().item()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(60)
train(5, 4, die)
"""
    ran = run(tmp_path, script)
    assert ran.status == -signal.SIGTERM
    assert ran.report["ended"] == "was ended by SIGTERM"
    assert ran.row(READ)["executions"] == 4
    assert not ran.report["parts"][0]["complete"]
    assert any("ended without warning" in note for note in ran.report["notes"])


def test_interrupted(tmp_path: Path) -> None:
    script = """
import signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)
train(5, 4, lambda: os.kill(os.getppid(), signal.SIGINT) or time.sleep(60))
"""
    ran = run(tmp_path, script)
    assert ran.status in {1, 130, -signal.SIGINT}
    assert "KeyboardInterrupt" in ran.err
    assert ran.row(READ)["executions"] == 4


def test_limits(tmp_path: Path) -> None:
    script = "train(6)\n"
    fine = run(tmp_path, script, "--max-compiles", "0", "--max-executions-per-step", "2")
    assert (fine.status, fine.report["broken"]) == (0, [])
    broken = run(tmp_path, script + "torch.median(weight)\n", "--max-executions-per-step", "1", "--fail-on-fallback")
    assert broken.status == 3
    first, second = broken.report["broken"]
    assert "executed 2 graphs a step after 3 steps, 1 allowed: train.py:1" in first
    assert second.startswith("operations ran on the CPU: aten::median: train.py:")


def test_loader_workers_leave_nothing(tmp_path: Path) -> None:
    script = """
if __name__ == "__main__":
    train(2)
    data = torch.utils.data.DataLoader(torch.arange(8.0), batch_size=2, num_workers=2,
                                       collate_fn=lambda rows: torch.tensor([row.item() for row in rows]))
    print(sum(batch.sum().item() for batch in data))
"""
    ran = run(tmp_path, script)
    assert ran.out == "28.0\n"
    assert len(ran.report["parts"]) == 1
    assert ran.report["notes"] == []


def test_processes_are_merged(tmp_path: Path) -> None:
    script = """
import multiprocessing
if __name__ == "__main__":
    processes = [multiprocessing.get_context("spawn").Process(target=train, args=(n,)) for n in (2, 3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
"""
    ran = run(tmp_path, script)
    assert len(ran.report["parts"]) == 2
    assert ran.report["totals"]["reads"] == 5
    assert ran.row(READ)["executions"] == 5


def test_launch_on_two_devices(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("""\
import torch, torch_xla

def main(index):
    x = torch.ones(3, device=torch_xla.device())
    for _ in range(4):
        x = x + 1
        torch_xla.sync()

if __name__ == "__main__":
    torch_xla.launch(main)
""")
    ran = command(tmp_path, "train.py", CPU_NUM_DEVICES="2")
    assert ran.status == 0
    assert ran.total("executions") == ran.report["totals"]["executions"] == 8
    assert ran.row(7)["executions"] == 8


def test_the_users_own_debug_file_stays_his(tmp_path: Path) -> None:
    log = tmp_path / "mine.log"
    log.write_text("before\n")
    ran = run(tmp_path, "train(3)\n", PT_XLA_DEBUG_LEVEL="2", PT_XLA_DEBUG_FILE=str(log))
    assert log.read_text().startswith("before\n")
    assert log.read_text().count("Execution Cause") == 6
    assert ran.row(READ)["executions"] == 3


@pytest.mark.parametrize("when", ["before", "after"])
def test_the_program_itself_sets_the_debug_variables(when: str, tmp_path: Path) -> None:
    setting = 'os.environ.update(PT_XLA_DEBUG_LEVEL="2", PT_XLA_DEBUG_FILE="mine.log")\n'
    importing = "import torch, torch_xla\n"
    script = TRAIN.replace(importing, setting + importing if when == "before" else importing + setting)
    (tmp_path / "train.py").write_text(script + "train(3)\n")
    ran = command(tmp_path, "train.py")
    assert ran.status == 0
    assert (tmp_path / "mine.log").read_text().count("Execution Cause") == 6
    assert ran.row(READ + 1)["executions"] == 3
    assert ran.total("executions") == ran.report["totals"]["executions"] == 6
    assert ran.report["notes"] == []


def test_a_million_records(tmp_path: Path) -> None:
    script = """
import time
train(3)
path = os.environ["PT_XLA_DEBUG_FILE"]
with open(path) as file:
    record = "\\n" + file.read().rpartition("\\n\\n")[2]
for _ in range(1000):
    with open(path, "a") as file:  # as torch_xla writes them
        file.write(record * 1000)
    while os.path.exists(path) and os.path.getsize(path) > 100e6:  # until what is read has been cleared away
        time.sleep(0.05)
"""
    ran = run(tmp_path, script)
    assert ran.status == 0, ran.err
    assert ran.row(BARRIER)["executions"] == 1_000_003


def test_the_users_own_level_is_kept(tmp_path: Path) -> None:
    ran = run(tmp_path, "train(3)\n", PT_XLA_DEBUG_LEVEL="1")
    assert ran.err.count("Compilation Cause") == ran.report["totals"]["compiles"]
    assert "Execution Cause" not in ran.err
    assert any("PT_XLA_DEBUG_LEVEL=1" in note for note in ran.report["notes"])
    (rest,) = [row for row in ran.report["rows"] if not row["file"]]
    assert rest["executions"] == ran.report["totals"]["executions"] == 6


def test_a_module_and_the_users_sitecustomize(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text("import builtins\nbuiltins.mine = 'here'\n")
    package = tmp_path / "program"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text("import sys\nprint(mine, sys.argv[1:], __spec__.name)\n")
    path = os.pathsep.join([str(tmp_path / "site"), str(ROOT)])
    ran = command(tmp_path, "-m", "program", "-x", "1", PYTHONPATH=path)
    assert ran.out == "here ['-x', '1'] program.__main__\n"
    assert ran.report["notes"] == ["no process executed anything on an XLA device"]


def test_the_reports(tmp_path: Path) -> None:
    ran = run(tmp_path, "train(3)\n", "--html", "report.html", "--markdown", "report.md")
    assert ran.status == 0
    page = (tmp_path / "report.html").read_text()
    assert "train.py:14" in page
    assert "loss.item()" in page
    assert "| `train.py:14` |" in (tmp_path / "report.md").read_text()


EXPLAINED = {
    "xla-ragged-batch/bad_last_batch": "input 2 is f32[4,6], and was f32[8,6]; and because input 3 is s64[4]",
    "xla-dynamic-padding/bad_pad_sequence": "input 3 is s64[4,10], and was s64[4,9]",
    "xla-growing-tensor/bad_growing_sequence": "input 2 is s64[2,8], and was s64[2,7]",
    "xla-changing-shape/bad_growing_prefix": "xla::select gives s64[2,8], and gave s64[2,7], from the same inputs",
    "xla-changing-constant/bad_power_of_step": "a constant of aten::roll is 16, and was 17",
    "xla-changing-constant/bad_python_position": "slice={[7:8]}, and was with slice={[6:7]}",
    "xla-host-random/bad_layer_drop": "it has less of aten::add: ",
    "xla-data-dependent-shape/bad_nonzero": "input 4 is s64[20,1], and was s64[18,1]",
}
"""Of bad fixtures, the last change of the kind."""


@pytest.mark.parametrize("fixture", EXPLAINED)
def test_a_recompile_is_explained(fixture: str, tmp_path: Path) -> None:
    ran = command(tmp_path, str(FIXTURES / f"{fixture}.py"))
    assert ran.status == 0
    reasons = [reason for reason in ran.report["reasons"] if reason["rule"] == fixture.partition("/")[0]]
    assert any(EXPLAINED[fixture] in reason["words"] for reason in reasons), ran.report["reasons"]
    assert all(reason["seen"] == "found by the linter too" for reason in reasons)


def test_a_checkpoint_may_read(tmp_path: Path) -> None:
    script = """
for _ in range(4):
    xm.save({"weight": weight, "double": weight * 2}, "model.pt")
    torch_xla.sync()
"""
    ran = run(tmp_path, script)
    row = ran.row(LAST + 3)
    assert (row["reads"], row["rule"]) == (4, "")
    assert ran.total("reads") == ran.report["totals"]["reads"]


def test_a_step_closure_may_read(tmp_path: Path) -> None:
    script = """
def report(loss):
    print(loss.item())

for asynchronous in (True, False):
    for _ in range(4):
        xm.add_step_closure(report, args=(weight.sum(),), run_async=asynchronous)
        torch_xla.sync()
"""
    ran = run(tmp_path, script)
    assert ran.out.count("4.0") == 8
    row = ran.row(LAST + 3)
    assert (row["reads"], row["late_reads"], row["rule"]) == (8, 8, "")
    assert ran.total("reads") == ran.report["totals"]["reads"]
