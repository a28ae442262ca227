"""The comparison of the linter with recorded runs, and the recording of lines; none of it needs torch."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.recordings import state
from xla_lint.cli.main import main
from xla_lint.runtime.agreement import OFTEN, Agreement, compare
from xla_lint.runtime.collect import Compile, Line, Pace, Process, Recording
from xla_lint.runtime.differences import LENGTH, Difference
from xla_lint.runtime.findings import Linted
from xla_lint.runtime.places import NOWHERE, Frame, Place
from xla_lint.runtime.sites import Comparison
from xla_lint.runtime.summary import Summary, summarise

ROOT = Path(__file__).parent.parent
SYNC = "user torch_xla.sync"
READ = "most likely user code trying to access tensor value before torch_xla.sync"
STEPS = 9
SOURCE = """\
import torch, torch_xla
x = torch.ones(4, device=torch_xla.device())
for step in range(9):
    y = (x * 2).sum()
    print(y.item())
    z = x[: step + 1]
    if step > 20:
        float(z.sum())
    torch_xla.sync()
print(x.sum().item())
"""
ITEM, SLICE, NEVER, BARRIER, LAST = 5, 6, 8, 9, 10
"""The lines of SOURCE."""
ALL_BUT_NEVER = [line for line in range(1, 11) if line != NEVER]


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "train.py"
    path.write_text(SOURCE)
    return str(path)


def forcing(number: int, steps: int) -> Line:
    line = Line(NOWHERE, executions=number, causes=Counter({READ: number}))
    line.forced = Pace(number, steps)
    return line


def recorded(
    script: str, lines: dict[int, Line], ran: list[int] = ALL_BUT_NEVER, *, recompiles: int = 0, steps: int = STEPS
) -> Summary:
    """What `xla-lint compare` would have recorded of SOURCE."""
    process = Process(state(ran={script: ran}))
    for number, line in lines.items():
        line.place = Place(Frame(script, number, "<module>"))
        process.lines[line.place] = line
    built = (Frame(script, SLICE, "<module>"),)
    change = Difference(LENGTH, "slice", "slice gives f32[2], and gave f32[1]", "f32[1]", "f32[2]", built)
    barrier = Frame(script, BARRIER, "<module>")
    against = Comparison(1, 9, (change,), other=False, same=False)
    process.compiles = [Compile(2 + n, (barrier,), SYNC, str(n), against=against) for n in range(recompiles)]
    if recompiles:
        line = process.line(Place(barrier))
        line.compiles, line.executions, line.recompiles = recompiles + 1, steps, recompiles
    return summarise(Recording([process]), Linted(), command=f"python '{script}'", ended="ended well", warmup=3)


def agreement(script: str, lines: dict[int, Line], **how: Any) -> Agreement:
    return compare(recorded(script, lines, **how), Linted())


def test_both_say_the_same(script: str) -> None:
    both = agreement(script, {ITEM: forcing(STEPS, STEPS), BARRIER: Line(NOWHERE, executions=STEPS)}, recompiles=8)
    assert [(each.line, each.what, each.flagged) for each in both.forced] == [
        (ITEM, "executions", "xla-value-read"),
        (BARRIER, "recompiles", "xla-changing-shape"),
    ]
    assert [(each.line, each.symbol) for each in both.flagged] == [
        (ITEM, "xla-value-read"),
        (SLICE, "xla-changing-shape"),
    ]
    assert both.disagreements == []


def test_a_flagged_line_that_did_nothing_is_not_confirmed(script: str) -> None:
    both = agreement(script, {BARRIER: Line(NOWHERE, executions=STEPS)})
    assert (both.forced, both.confirmed) == ([], 0)
    assert [each.words for each in both.disagreements] == [
        "is flagged as xla-value-read, and the runtime recorded nothing",
        "is flagged as xla-changing-shape, and the runtime recorded nothing",
    ]


def test_a_flagged_line_that_did_not_run_is_left_out(script: str) -> None:
    assert agreement(script, {}, ran=[1, 2, 3]).flagged == []
    ran = [each.line for each in agreement(script, {}, ran=[*ALL_BUT_NEVER, NEVER]).flagged]
    assert NEVER in ran


def test_a_line_that_forces_every_step_and_is_not_flagged(script: str) -> None:
    both = agreement(script, {ITEM: forcing(STEPS, STEPS), LAST: forcing(STEPS, STEPS)})
    assert (len(both.forced), both.found) == (2, 1)
    assert f"forced {STEPS} executions and is not flagged" in both.disagreements[0].words


def test_a_cost_shows_where_the_flagged_object_is_used(tmp_path: Path) -> None:
    build, train = tmp_path / "build.py", tmp_path / "train.py"
    build.write_text("import torch\ndef optimizer(model):\n    return torch.optim.ASGD(model.parameters())\n")
    train.write_text(
        "import torch, torch_xla, build\n"
        "model = torch.nn.Linear(4, 1).to(torch_xla.device())\n"
        "optimizer = build.optimizer(model)\n"
        "for step in range(9):\n"
        "    model(torch.ones(2, 4).to(torch_xla.device())).sum().backward()\n"
        "    optimizer.step()\n"
        "    optimizer.zero_grad()\n"
        "    torch_xla.sync()\n"
    )
    step = forcing(STEPS, STEPS)
    step.place = Place(Frame(str(train), 6, "<module>"))
    ran = {str(build): [1, 2, 3], str(train): list(range(1, 9))}
    process = Process(state(ran=ran))
    process.lines[step.place] = step
    summary = summarise(Recording([process]), Linted(), command=f"python '{train}'", ended="ended well", warmup=3)
    both = compare(summary, Linted())
    assert [(each.line, each.flagged) for each in both.forced] == [(6, "xla-syncing-optimizer")]
    assert [(each.file, each.line, each.confirmed) for each in both.flagged] == [(str(build), 3, True)]


PERIODIC = """\
import torch, torch_xla
x = torch.ones(4, device=torch_xla.device())
for step in range(9):
    y = (x * 2).sum()
    {before}
    if step % 3 == 2:
        print(y.item())
    {after}
"""


@pytest.mark.parametrize(
    ("barrier", "executions", "confirmed"),
    [("before", 0, True), ("after", 0, False), ("after", 3, True)],
    ids=["late as it says", "late, though it says pending", "pending as it says"],
)
def test_a_periodic_read_is_confirmed_by_what_it_says(
    tmp_path: Path, barrier: str, executions: int, confirmed: bool
) -> None:
    path = tmp_path / "train.py"
    path.write_text(PERIODIC.format(**{"before": "pass", "after": "pass", barrier: "torch_xla.sync()"}))
    read = Line(NOWHERE, executions=executions, pending_reads=executions, late_reads=3 - executions)
    (found,) = agreement(str(path), {7: read}, ran=list(range(1, 9))).flagged
    assert (found.symbol, found.confirmed) == ("xla-periodic-read", confirmed)


TWO_LOOPS = """import torch, torch_xla
x = torch.ones(9, device=torch_xla.device())
for step in range(9):
    y = x[: step + 1]
    torch_xla.sync()
for step in range(9):
    z = x[: step + 1]
    torch_xla.sync()
"""


def test_what_another_loop_compiled_confirms_nothing(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(TWO_LOOPS)
    recompiles = Process(state(ran={str(path): list(range(1, 9))}))
    barrier, built = (Frame(str(path), line, "<module>") for line in (8, 7))
    change = Difference(LENGTH, "slice", "slice gives f32[2], and gave f32[1]", "f32[1]", "f32[2]", (built,))
    against = Comparison(1, 9, (change,), other=False, same=False)
    recompiles.compiles = [Compile(2 + n, (barrier,), SYNC, str(n), against=against) for n in range(8)]
    line = recompiles.line(Place(barrier))
    line.compiles, line.executions, line.recompiles = 9, 9, 8
    summary = summarise(Recording([recompiles]), Linted(), command=f"python '{path}'", ended="ended well", warmup=3)
    both = compare(summary, Linted())
    assert [(each.line, each.confirmed) for each in both.flagged] == [(4, False), (7, True)]
    assert [(each.line, each.flagged) for each in both.forced] == [(8, "xla-changing-shape")]
    assert [(each.line, each.symbol) for each in summary.unconfirmed] == [(4, "xla-changing-shape")]


@pytest.mark.parametrize(("number", "steps"), [(OFTEN - 1, 1), (OFTEN, 2 * OFTEN), (1, 1)])
def test_now_and_then_is_no_steady_state(script: str, number: int, steps: int) -> None:
    assert agreement(script, {LAST: forcing(number, steps)}).forced == []


def test_recompiles_now_and_then_are_no_steady_state(script: str) -> None:
    assert agreement(script, {}, recompiles=OFTEN, steps=2 * OFTEN).forced == []


def test_a_step_with_two_barriers_is_one_step() -> None:
    barrier, second = (Place(Frame("train.py", line, "train")) for line in (9, 12))
    pace = Pace()
    passed: Counter[Place] = Counter()
    for _ in range(4):
        pace.note(passed)
        passed.update([barrier, second])
    assert (pace.number, pace.steps) == (4, 4)


def test_a_report_is_read_as_it_was_written(script: str) -> None:
    summary = recorded(script, {ITEM: forcing(STEPS, STEPS)}, recompiles=8)
    assert Summary.from_json(json.loads(json.dumps(summary.as_json()))) == summary


@pytest.fixture
def report(script: str, tmp_path: Path) -> Path:
    path = tmp_path / "report.json"
    lines = {ITEM: forcing(STEPS, STEPS)}
    path.write_text(json.dumps(recorded(script, lines, recompiles=8).as_json()))
    return path


def test_the_table(report: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(report), "--json", str(tmp_path / "out"), "--markdown", str(tmp_path / "table")]) == 0
    assert capsys.readouterr().out.splitlines()[1].split() == "train.py 2 2 (100%) 2 2 (100%) ended well".split()
    assert json.loads((tmp_path / "out").read_text())["totals"] == {
        "forced": 2,
        "forced_and_flagged": 2,
        "flagged": 2,
        "flagged_and_confirmed": 2,
    }
    assert "| train.py | 2 | 2 (100%) | 2 | 2 (100%) | ended well |" in (tmp_path / "table").read_text().splitlines()


def test_a_program_that_failed_is_no_agreement(script: str, report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    summary = recorded(script, {ITEM: forcing(STEPS, STEPS)}, recompiles=8).as_json()
    report.write_text(json.dumps({**summary, "ended": "was ended by SIGSEGV"}))
    assert main(["compare", str(report)]) == 1
    assert "train.py: the program was ended by SIGSEGV" in capsys.readouterr().err


def test_a_disagreement_is_told(script: str, report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report.write_text(json.dumps(recorded(script, {}).as_json()))
    assert main(["compare", str(report)]) == 1
    assert f"train.py:{ITEM}: is flagged as xla-value-read, and the runtime recorded nothing" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("nowhere.py", "nowhere.py is no file"),
        ("nowhere.json", "cannot be read"),
        ("'", "No closing quotation"),
        ("", "name a script"),
    ],
)
def test_nothing_to_compare(argument: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", argument]) == 2
    assert said in capsys.readouterr().err


def test_a_report_without_lines_cannot_be_compared(
    script: str, report: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report.write_text(json.dumps(recorded(script, {}, []).as_json() | {"ran": {}}))
    assert main(["compare", str(report)]) == 2
    assert "does not say which lines ran" in capsys.readouterr().err
    report.write_text("{}")
    assert main(["compare", str(report)]) == 2


def test_lines_are_noted_once_recording_starts(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(
        "import json, sys\n"
        f"sys.path.append({str(ROOT)!r})\n"
        "from xla_lint.runtime.ran import Ran\n"
        "ran = Ran()\n"
        "def called(yes):\n"
        "    ran.start()\n"
        "    if yes:\n"
        "        return json.dumps([1])\n"
        "    return 0\n"
        "called(True)\n"
        "print(json.dumps(ran.lines()))\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {str(script): [7, 8, 11]}


@pytest.mark.parametrize("option", ["--json", "--markdown", "--keep"])
def test_a_place_that_cannot_be_is_refused_before_anything_runs(
    tmp_path: Path, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    script = tmp_path / "never.py"
    script.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    assert main(["compare", option, str(tmp_path / "file" / "below"), str(script)]) == 2
    assert "below cannot be" in capsys.readouterr().err
    assert not (tmp_path / "ran").exists()
