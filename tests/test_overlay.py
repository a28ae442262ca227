"""Unsaved texts: they stand for their files in every program, and what does not depend on them stays known."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest
from astroid import nodes

from tests.doors import pylint
from xla_lint import engine
from xla_lint.cli.main import main
from xla_lint.program.interpreter import programs
from xla_lint.program.project import overlay
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import parse, read

TRAIN = """\
import torch
import torch_xla

from meters import note

device = torch_xla.device()
model = torch.nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(10):
    optimizer.zero_grad()
    loss = model(torch.ones(2, 4, device=device)).mean()
    loss.backward()
    optimizer.step()
    note(loss)
    torch_xla.sync()
"""
METERS = "def note(value):\n    print(value.item())\n"
QUIET = "def note(value):\n    pass\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "meters.py").write_text(METERS)
    Project.forget()
    return tmp_path


@pytest.fixture(autouse=True)
def _nothing_is_held() -> None:
    for path in overlay.held_below(Path("/")):
        overlay.release(path)


def found(path: Path) -> list[str]:
    project = Project.around(path)
    module = project.parsed(str(path), read(path))
    return [finding.rule.symbol for finding in engine.check_module(module, project, engine.Settings())]


def hold(path: Path, text: str) -> None:
    overlay.hold(path, text.encode())
    Project.renew(path)


def release(path: Path) -> None:
    overlay.release(path)
    Project.renew(path)


def test_an_unsaved_text_keeps_what_its_program_says_of_it(folder: Path) -> None:
    assert found(folder / "meters.py") == ["xla-value-read"]
    hold(folder / "meters.py", METERS + "# typing")
    assert found(folder / "meters.py") == ["xla-value-read"]


def test_an_unsaved_text_counts_for_other_files(folder: Path) -> None:
    assert found(folder / "meters.py") == ["xla-value-read"]
    hold(folder / "train.py", TRAIN.replace("note(loss)", "pass"))
    assert found(folder / "meters.py") == []
    release(folder / "train.py")
    assert found(folder / "meters.py") == ["xla-value-read"]


def test_a_text_that_was_there_before_is_known_again(folder: Path) -> None:
    for text in (METERS, QUIET, METERS, METERS + "\n", METERS):
        hold(folder / "meters.py", text)
        assert found(folder / "meters.py") == ["xla-value-read"] * (text != QUIET)


def test_a_new_import_makes_a_file_part_of_a_program(folder: Path) -> None:
    (folder / "train.py").write_text(TRAIN.replace("from meters import note", "from math import sqrt as note"))
    assert found(folder / "meters.py") == []
    hold(folder / "train.py", TRAIN)
    assert found(folder / "meters.py") == ["xla-value-read"]


def test_a_file_that_is_on_no_disk_is_imported(folder: Path) -> None:
    (folder / "meters.py").unlink()
    (folder / "train.py").write_text(TRAIN + "note(loss)\n")
    assert found(folder / "train.py") == []
    hold(folder / "meters.py", METERS)
    assert found(folder / "meters.py") == ["xla-value-read"]
    release(folder / "meters.py")
    assert folder / "meters.py" not in Project.around(folder / "train.py").files


def test_a_file_in_a_folder_of_others_is_no_part_of_the_project(folder: Path) -> None:
    project = Project.around(folder / "train.py")
    hold(folder / ".venv" / "meters.py", QUIET)
    assert project is Project.around(folder / "train.py")
    Project.forget()
    assert Project.around(folder / "train.py").files == {folder / "train.py", folder / "meters.py"}


def test_a_program_runs_anew_only_for_what_it_depends_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "other.py").write_text("import torch_xla\n")
    runs: list[str] = []
    real = programs.run_programs

    def noted(entry: nodes.Module, *rest: Any, **named: Any) -> Any:
        runs.append(entry.name)
        return real(entry, *rest, **named)

    monkeypatch.setattr(programs, "run_programs", noted)
    found(folder / "meters.py")
    hold(folder / "other.py", "import torch_xla\ntorch_xla.sync()\n")
    found(folder / "meters.py")
    assert runs == ["train"]
    hold(folder / "meters.py", METERS + "# typing")
    found(folder / "meters.py")
    found(folder / "train.py")
    assert runs == ["train", "train"]


def test_a_project_is_made_anew_for_what_it_declares(folder: Path) -> None:
    project = Project.around(folder / "train.py")
    Project.renew(folder / "pyproject.toml")
    assert Project.around(folder / "train.py") is not project


def test_folders_without_a_marker_begin_where_unsaved_scripts_say(tmp_path: Path) -> None:
    inner = tmp_path / "lib"
    inner.mkdir()
    (inner / "meters.py").write_text(METERS)
    (tmp_path / "train.py").write_text(TRAIN)
    Project.forget()
    assert Project.around(inner / "meters.py").root == inner
    hold(tmp_path / "train.py", TRAIN.replace("from meters", "from lib.meters"))
    assert Project.around(inner / "meters.py").root == tmp_path
    assert found(inner / "meters.py") == ["xla-value-read"]


def test_what_is_held_for_a_while_is_gone_afterwards(folder: Path) -> None:
    with overlay.overlaid({folder / "meters.py": QUIET.encode()}):
        assert read(folder / "meters.py") == QUIET.encode()
    assert read(folder / "meters.py") == METERS.encode()


def test_a_summary_of_an_unsaved_text_has_no_stamp(folder: Path) -> None:
    hold(folder / "meters.py", QUIET)
    assert Project.around(folder / "train.py").summary(folder / "meters.py").stamp is None


def test_a_tree_with_another_text_is_not_taken_for_the_file(folder: Path) -> None:
    hold(folder / "meters.py", QUIET)
    project = Project.around(folder / "meters.py")
    assert not project.adopts(parse(METERS, folder / "meters.py"))
    assert project.adopts(parse(QUIET, folder / "meters.py"))


class TestStandardInput:
    def test_stands_for_its_file_in_the_command(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = folder / "meters.py"
        for text in (METERS, METERS + "# typing", METERS.replace("value.item()", "value.item() + 1")):
            assert self.check(text, "--stdin-filename", str(path)) == 1
            assert "xla-value-read" in capsys.readouterr().out

    def test_stands_for_its_file_in_all_that_are_checked(
        self, folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        meters, train = folder / "meters.py", folder / "train.py"
        assert self.check(TRAIN.replace("    note(loss)\n", ""), str(meters), "--stdin-filename", str(train)) == 0
        assert self.check(TRAIN, str(meters), "--stdin-filename", str(train)) == 1
        assert f"{meters}:2" in capsys.readouterr().out

    @staticmethod
    def check(text: str, *arguments: str) -> int:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
            return main(["check", "--no-cache", "-", *arguments])

    def test_stands_for_its_file_in_pylint(self, folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            for text in (METERS, METERS + "# typing"):
                patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
                messages = pylint("--from-stdin", folder / "meters.py")
                assert [message.symbol for message in messages] == ["xla-value-read"]
