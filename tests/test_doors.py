"""What goes on around the command: how paths are written, signals, full disks, what it says of mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.doors import HELPER, SCRIPT
from xla_lint.cli.main import main

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A script, and the helper in which it reads a pending tensor."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name, text in (("train.py", SCRIPT), ("helper.py", HELPER), ("requirements.txt", "")):
        (folder / name).write_text(text)
    return folder


def found(capsys: Captured, *arguments: str) -> list[tuple[str, int, str]]:
    capsys.readouterr()
    main(["check", "--format=json", *arguments])
    return [(f["path"], f["line"], f["symbol"]) for f in json.loads(capsys.readouterr().out)["findings"]]


class TestPaths:
    @pytest.mark.parametrize("written", ["../project", "../other/../project", "./../project/.", "../project/helper.py"])
    def test_dots_lead_to_the_same_findings(
        self, project: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, written: str
    ) -> None:
        (project.parent / "other").mkdir()
        monkeypatch.chdir(project.parent / "other")
        ((path, line, symbol),) = found(capsys, written)
        assert (Path(path).resolve(), line, symbol) == (project / "helper.py", 2, "xla-value-read")
        assert path.startswith("..")
