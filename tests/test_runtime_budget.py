"""What programs may cost, kept in a file: from recorded data, and on the command line without torch."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from tests.recordings import state
from xla_lint.cli.formats.junit import of_run
from xla_lint.cli.main import main
from xla_lint.runtime.budget import BudgetError, BudgetFile
from xla_lint.runtime.collect import Compile, Line, Process, Recording
from xla_lint.runtime.counts import Counts
from xla_lint.runtime.exchange import BarriersAt, ReadsAt
from xla_lint.runtime.findings import Linted
from xla_lint.runtime.gate import Limits, broken
from xla_lint.runtime.places import Frame, Place
from xla_lint.runtime.sources import _read
from xla_lint.runtime.summary import summarise

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xla_lint.runtime.gate import Check
    from xla_lint.runtime.summary import Summary

SOURCE = """\
import torch, torch_xla
for step in range(9):
    print(loss.item())
    torch_xla.sync()
"""
COMMAND = "python train.py"


def summary(
    folder: Path, *, compiles: int = 2, warm: int = 0, reads: int = 9, above: str = "", steps: int = 9, extra: int = 0
) -> Summary:
    (folder / "train.py").write_text(above + SOURCE)
    _read.cache_clear()  # one process never sees a program change
    file, down = str(folder / "train.py"), above.count("\n")
    item, sync = Frame(file, 3 + down, "<module>"), Frame(file, 4 + down, "<module>")
    process = Process(
        state(
            counts=Counts(compiles, 9 + extra, reads),
            warm=Counts(compiles - warm, 3, 3),
            last=Counts(0, 9, reads),
            steps=steps,
            reads=[ReadsAt(Place(item), "value", late=reads)] if reads else [],
            barriers_at=[BarriersAt(Place(sync), 9, 1.0)],
        )
    )
    process.lines[Place(sync)] = Line(Place(sync), compiles, 9, causes=Counter({"user torch_xla.sync": 9}), barriers=9)
    process.compiles += [Compile(n + 1, (sync,), "user torch_xla.sync", "aa") for n in range(compiles)]
    process.settle()
    return summarise(Recording([process]), Linted(), command=COMMAND, ended="ended well", warmup=3)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    BudgetFile(tmp_path / "budget.toml").update(summary(tmp_path))
    return tmp_path / "budget.toml"


def test_what_is_written(file: Path) -> None:
    assert file.read_text().splitlines()[-7:] == [
        '[program."python train.py"]',
        "compiles = 2",
        "compiles_once_warm = 0",
        "executions_per_step = 1.0",
        "",
        '[program."python train.py".reads_per_step]',
        '"train.py: print(loss.item())" = 1.0',
    ]


def test_the_same_run_holds(file: Path) -> None:
    assert broken(BudgetFile(file).checks(summary(file.parent))) == []


def test_a_cheaper_run_holds(file: Path) -> None:
    assert broken(BudgetFile(file).checks(summary(file.parent, compiles=1, reads=0))) == []


def test_a_line_keeps_its_budget_where_it_moves(file: Path) -> None:
    assert broken(BudgetFile(file).checks(summary(file.parent, above="import os\n\n"))) == []


def test_what_costs_more_is_told(file: Path) -> None:
    assert broken(BudgetFile(file).checks(summary(file.parent, compiles=4, warm=1, reads=18))) == [
        "compiled 4 graphs, and the budget is 2: train.py:4 (4)",
        "compiled 1 graph after 3 steps, and the budget is 0: train.py:4 (1)",
        "read 2 times a step at train.py:3, and the budget is 1: train.py: print(loss.item())",
    ]


def test_what_is_executed_more_is_told(file: Path) -> None:
    assert broken(BudgetFile(file).checks(summary(file.parent, extra=9))) == [
        "executed 2 graphs a step, and the budget is 1: train.py:4 (9), (no Python line) (9)"
    ]


def test_a_line_without_a_budget_may_read_nothing(file: Path) -> None:
    BudgetFile(file).update(summary(file.parent, reads=0))
    assert broken(BudgetFile(file).checks(summary(file.parent, reads=1))) == [
        "read 0.1112 times a step at train.py:3, and the budget is 0: train.py: print(loss.item())"
    ]


def test_a_rate_that_was_rounded_holds(file: Path) -> None:
    BudgetFile(file).update(summary(file.parent, reads=1))
    assert broken(BudgetFile(file).checks(summary(file.parent, reads=1))) == []
    assert len(broken(BudgetFile(file).checks(summary(file.parent, reads=2)))) == 1


def test_nothing_recorded_and_nothing_steady_hold_no_budget(file: Path) -> None:
    empty = summarise(Recording(), Linted(), command=COMMAND, ended="ended well", warmup=3)
    assert broken(BudgetFile(file).checks(empty)) == ["nothing was recorded, so that no budget can be said to hold"]
    short = summary(file.parent, steps=2)
    assert broken(BudgetFile(file).checks(short)) == ["the program never became steady, with 2 steps; see --warmup"]


def test_an_update_leaves_the_rest(file: Path) -> None:
    other = "[program.other]\ncompiles = 7 # measured on v5e\ncompiles_once_warm = 0\n"
    other += "executions_per_step = 1.0\nreads_per_step = {}\n"
    file.write_text(f"{file.read_text()}\n{other}")
    BudgetFile(file).update(summary(file.parent, compiles=3))
    assert "compiles = 7 # measured on v5e" in file.read_text()
    assert broken(BudgetFile(file).checks(summary(file.parent, compiles=3))) == []
    assert broken(BudgetFile(file).checks(replace(summary(file.parent, compiles=8), command="other"))) != []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("compiles = [", "cannot be read: "),
        ("program = 3", "needs a table for each program: program"),
        ("[program.x]\ncompiles = 1", "lacks a key: compiles_once_warm"),
        (
            "[program.x]\ncompiles = 1\ncompiles_once_warm = 0\nexecutions_per_step = 1\nreads_per_step = {a = true}",
            "needs a number: a",
        ),
        (
            "[program.x]\ncompiles = 1\ncompiles_once_warm = 0\nexecutions_per_step = 1\nreads_per_step = {}\nx = 1",
            "has an unknown key: x",
        ),
    ],
)
def test_what_is_no_budget(text: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "budget.toml").write_text(text)
    with pytest.raises(BudgetError, match=f"^{problem}"):
        BudgetFile(tmp_path / "budget.toml")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--update"], "--update needs --check FILE"),
        (["--check", "budget.toml"], "budget.toml has no budget for 'python never.py'; --update writes it"),
        (["--check", "broken.toml"], "broken.toml lacks a key: compiles"),
        (["--check", "nowhere/budget.toml", "--update"], "cannot be written: no such directory"),
    ],
)
def test_what_is_refused_before_the_run(
    options: list[str],
    problem: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("never.py").write_text("open('ran', 'w')\n")
    Path("broken.toml").write_text("[program.x]\n")
    assert main(["run", *options, "never.py"]) == 2
    assert problem in capsys.readouterr().err
    assert not Path("ran").exists()


def test_a_run_without_a_record_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plain.py").write_text("print('ran')\n")
    assert main(["run", "--check", "budget.toml", "--update", "plain.py"]) == 3
    assert "limit broken: nothing was recorded" in capfd.readouterr().err
    assert not Path("budget.toml").exists()


def cases(summary: Summary, checks: Iterable[Check]) -> dict[str, str]:
    """What JUnit's XML says of each test; empty where it passed."""
    suite = ET.fromstring(of_run(summary, list(checks)))[0]
    told = {case.attrib["name"]: "".join(each.attrib["message"] for each in case) for case in suite}
    failed = sum(case.find("failure") is not None for case in suite)
    assert suite.attrib.items() >= {"tests": str(len(told)), "failures": str(failed)}.items()
    return told


def test_each_line_of_a_budget_is_a_test_of_its_own(file: Path) -> None:
    dearer = summary(file.parent, reads=18)
    assert cases(dearer, BudgetFile(file).checks(dearer)) == {
        "the program": "",
        "steady": "",
        "compiles": "",
        "compiles_once_warm": "",
        "executions_per_step": "",
        "reads_per_step: train.py: print(loss.item())": "read 2 times a step at train.py:3, and the budget is 1: "
        "train.py: print(loss.item())",
    }


def test_a_line_that_reads_no_more_is_a_test_that_passes(file: Path) -> None:
    silent = summary(file.parent, reads=0)
    assert cases(silent, BudgetFile(file).checks(silent))["reads_per_step: train.py: print(loss.item())"] == ""


def test_each_limit_is_a_test_of_its_own(tmp_path: Path) -> None:
    ran = replace(summary(tmp_path, warm=1), ended="ended with exit status 1", problems=["the disk was full"])
    assert cases(ran, Limits(0, 1.5).checks(ran)) == {
        "the program": "the program ended with exit status 1",
        "recorded": "",
        "warm": "",
        "--max-compiles 0": "process 41 compiled 1 graph after 3 steps, 0 allowed: train.py:4 (1)",
        "--max-executions-per-step 1.5": "",
        "the recording": "the disk was full",
    }


def test_where_nothing_was_recorded_no_test_passes_for_a_budget(file: Path) -> None:
    empty = summarise(Recording(), Linted(), command=COMMAND, ended="ended well", warmup=3)
    told = cases(empty, BudgetFile(file).checks(empty))
    assert told == {"the program": "", "steady": "nothing was recorded, so that no budget can be said to hold"}


def test_the_command_writes_the_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plain.py").write_text("print('ran')\n")
    assert main(["run", "--max-compiles", "0", "--junit", "limits.xml", "plain.py"]) == 3
    assert "nothing was recorded" in Path("limits.xml").read_text()
    assert main(["run", "--junit", "nowhere/limits.xml", "plain.py"]) == 2
