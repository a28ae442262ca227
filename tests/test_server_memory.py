"""What the server knows at its start: what `xla-lint check` has left of a project on disk, as far as it still holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doors import HELPER, SCRIPT
from xla_lint.cli.main import main
from xla_lint.engine import Settings
from xla_lint.program.project import project as projects
from xla_lint.program.project.overlay import overlaid
from xla_lint.program.project.project import Project
from xla_lint.program.project.summaries import Summaries
from xla_lint.server.memory import Memory


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project of two files that the command has checked."""
    for name, text in (("train.py", SCRIPT), ("helper.py", HELPER), ("pyproject.toml", "")):
        (tmp_path / name).write_text(text)
    assert main(["check", "--quiet", str(tmp_path)]) == 1
    Project.forget()
    return tmp_path


def met(memory: Memory, folder: Path) -> Project:
    project = Project.around(folder / "train.py")
    memory.meet(project, Settings())
    return project


def test_what_the_command_left_is_not_read_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = met(Memory(), folder)
    assert {path.name for path in project.summaries} == {"train.py", "helper.py"}
    monkeypatch.setattr(projects, "_bytes", lambda path: pytest.fail(f"{path} is read"))
    assert project.membership(folder / "helper.py").through


def test_what_has_changed_since_is(folder: Path) -> None:
    (folder / "train.py").write_text(SCRIPT.replace("from helper import note", "def note(a, b): return b"))
    project = met(Memory(), folder)
    assert {path.name for path in project.summaries} == {"helper.py"}
    assert not project.membership(folder / "helper.py").through


def test_what_is_typed_meanwhile_counts(folder: Path) -> None:
    with overlaid({folder / "train.py": b"x = 1\n"}):
        assert not met(Memory(), folder).membership(folder / "helper.py").through


def test_a_project_that_is_looked_at_again_is_met_again(folder: Path) -> None:
    memory = Memory()
    met(memory, folder).membership(folder / "helper.py")
    (folder / "train.py").write_text("x = 1\n")
    Project.forget()
    assert not met(memory, folder).membership(folder / "helper.py").through


def test_a_project_is_met_once(folder: Path) -> None:
    memory = Memory()
    project = met(memory, folder)
    project.summaries = Summaries()
    assert not met(memory, folder).summaries
