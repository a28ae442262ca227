"""`--diff-base`: the findings that a change causes, wherever they stand."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from xla_lint.cli.main import main

Captured = pytest.CaptureFixture[str]
METERS = "def note(total, value):\n    return total + value.item()\n"
TRAIN = """\
import torch
import torch_xla
from meters import note

device = torch_xla.device()
model = torch.nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
total = 0.0
for _ in range(10):
    loss = model(torch.randn(2, 4, device=device)).mean()
    loss.backward()
    optimizer.step()
    total = note(total, VALUE)
    torch_xla.sync()
"""
BEFORE, AFTER = (TRAIN.replace("VALUE", value) for value in ("torch.ones(1)", "loss"))
OLD = """\
import torch_xla

def scale(x):
    return x

device = torch_xla.device()
for _ in range(10):
    x = torch_xla.zeros(1)
import torch_xla.core.xla_model as xm
xm.xrt_world_size()
"""


def git(*arguments: str) -> None:
    name = ("-c", "user.name=A", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *name, *arguments], check=True, capture_output=True)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, a repository: a program without findings, and an old script with one."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("train.py", BEFORE), ("meters.py", METERS), ("old.py", OLD)):
        (tmp_path / name).write_text(text)
    git("init")
    git("add", ".")
    git("commit", "-m", "before")
    return tmp_path


def check(capsys: Captured, *arguments: str) -> tuple[int, list[tuple[str, int, str]], str]:
    status = main(["check", "--format=json", *(arguments or (".", "--diff-base=HEAD"))])
    output = capsys.readouterr()
    found = [(f["path"], f["line"], f["symbol"]) for f in json.loads(output.out)["findings"]]
    return status, found, output.err


@pytest.mark.usefixtures("folder")
def test_nothing_changed(capsys: Captured) -> None:
    status, found, told = check(capsys)
    assert (status, found) == (0, [])
    assert "1 there before, at HEAD" in told
    assert len(check(capsys, ".")[1]) == 1


def test_a_finding_in_a_file_that_did_not_change(folder: Path, capsys: Captured) -> None:
    (folder / "train.py").write_text(AFTER)
    assert check(capsys)[:2] == (1, [("meters.py", 2, "xla-value-read")])
    git("commit", "-a", "-m", "after")
    assert check(capsys)[1] == []
    assert check(capsys, ".", "--diff-base=HEAD~1")[1] == [("meters.py", 2, "xla-value-read")]


def test_lines_that_move_and_files_that_are_renamed_cause_nothing(folder: Path, capsys: Captured) -> None:
    (folder / "old.py").write_text(OLD.replace("\n\n", "\n\n\n# moved\n"))
    assert check(capsys)[1] == []
    git("mv", "old.py", "older.py")
    assert check(capsys)[1] == []


def test_a_new_file_is_new(folder: Path, capsys: Captured) -> None:
    (folder / "new.py").write_text(OLD)
    assert [path for path, *_ in check(capsys)[1]] == ["new.py"]


def test_what_came_on_the_other_branch_meanwhile_is_no_part_of_the_change(folder: Path, capsys: Captured) -> None:
    git("checkout", "-b", "work")
    git("checkout", "main")
    (folder / "old.py").write_text("")
    git("commit", "-a", "-m", "fixed on main")
    git("checkout", "work")
    assert check(capsys, ".", "--diff-base=main")[1] == []


def test_from_another_folder(folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "train.py").write_text(AFTER)
    (folder / "inner").mkdir()
    monkeypatch.chdir(folder / "inner")
    assert [path for path, *_ in check(capsys, "..", "--diff-base=HEAD")[1]] == ["../meters.py"]


def test_the_repository_is_left_as_it_was(folder: Path, capsys: Captured) -> None:
    (folder / "train.py").write_text(AFTER)
    git("add", "train.py")
    before = sorted(path.relative_to(folder) for path in folder.rglob("*"))
    staged = subprocess.run(["git", "diff", "--cached"], check=True, capture_output=True).stdout
    check(capsys)
    assert sorted(path.relative_to(folder) for path in folder.rglob("*")) == before
    assert subprocess.run(["git", "diff", "--cached"], check=True, capture_output=True).stdout == staged


def test_no_such_revision(folder: Path, capsys: Captured) -> None:
    assert main(["check", ".", "--diff-base=nowhere"]) == 2
    assert capsys.readouterr().err == f"xla-lint: error: --diff-base: {folder} has no revision 'nowhere'\n"


def test_no_repository(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)
    assert main(["check", ".", "--diff-base=HEAD"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("xla-lint: error: --diff-base: fatal: not a git repository")
    assert error.count("\n") == 1
