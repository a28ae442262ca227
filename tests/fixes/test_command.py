"""`xla-lint fix`: what is written, what is left alone, and what the user is told."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from xla_lint.cli import fixing
from xla_lint.cli.main import main
from xla_lint.cli.rewrite import RewriteError, rewrite

Captured = pytest.CaptureFixture[str]
FIXED = Path(__file__).parent.parent / "fixed"
BEFORE = "import torch_xla\nimport torch_xla.core.xla_model as xm\n\nprint('done')\nxm.mark_step()\n"
AFTER = "import torch_xla\n\nprint('done')\ntorch_xla.sync()\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a script that has a finding."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_bytes(BEFORE.encode())
    return tmp_path


def test_a_file_is_fixed_and_the_user_told(folder: Path, capsys: Captured) -> None:
    assert main(["fix", "."]) == 0
    assert (folder / "train.py").read_bytes() == AFTER.encode()
    output = capsys.readouterr()
    line = "train.py:5:1: W9762 xla-deprecated-api fixed: use the name that the target release has\n"
    assert output.out == line
    assert output.err == "1 finding fixed in 1 file\n"


def test_a_fixed_file_is_not_written_again(folder: Path, capsys: Captured) -> None:
    main(["fix", "."])
    os.utime(folder / "train.py", ns=(0, 0))
    capsys.readouterr()
    assert main(["fix", "."]) == 0
    assert capsys.readouterr() == ("", "nothing to fix\n")
    assert (folder / "train.py").stat().st_mtime_ns == 0


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (BEFORE.replace("done", "größer"), "utf-8"),
        (BEFORE.replace("done", "größer"), "utf-8-sig"),
        ("# -*- coding: latin-1 -*-\n" + BEFORE.replace("done", "größer"), "latin-1"),
        ("# coding: cp1251\n" + BEFORE.replace("done", "готово"), "cp1251"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encoding_mark_and_ends_of_lines_stay(folder: Path, text: str, encoding: str, end: str) -> None:
    if end == "\r" and not encoding.startswith("utf-8"):
        pytest.skip("Python itself finds no coding line there")
    source = text.replace("\n", end).encode(encoding)
    (folder / "train.py").write_bytes(source)
    assert main(["fix", "."]) == 0
    expected = text.replace("import torch_xla.core.xla_model as xm\n", "").replace("xm.mark_step", "torch_xla.sync")
    assert (folder / "train.py").read_bytes() == expected.replace("\n", end).encode(encoding)


def test_mixed_ends_of_lines_and_a_missing_last_one_stay(folder: Path) -> None:
    (folder / "train.py").write_bytes(BEFORE.replace("print('done')\n", "print('done')\r\n").rstrip().encode())
    assert main(["fix", "."]) == 0
    assert (folder / "train.py").read_bytes() == AFTER.replace("done')\n", "done')\r\n").rstrip().encode()


def test_the_mode_stays(folder: Path) -> None:
    (folder / "train.py").chmod(0o750)
    assert main(["fix", "train.py"]) == 0
    assert stat.S_IMODE((folder / "train.py").stat().st_mode) == 0o750


def test_a_link_stays_a_link(folder: Path) -> None:
    (folder / "real").mkdir()
    (folder / "train.py").rename(folder / "real" / "script.py")
    (folder / "train.py").symlink_to(Path("real", "script.py"))
    assert main(["fix", "train.py"]) == 0
    assert (folder / "train.py").is_symlink()
    assert (folder / "real" / "script.py").read_text() == AFTER
    assert sorted(path.name for path in (folder / "real").iterdir()) == ["script.py"]


def test_a_file_that_changed_meanwhile_is_left_alone(
    folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def planned(*arguments: object) -> object:
        (folder / "train.py").write_text("changed = True\n")
        return original(*arguments)  # type: ignore[arg-type]

    original = fixing.plan
    monkeypatch.setattr(fixing, "plan", planned)
    assert main(["fix", "."]) == 2
    assert (folder / "train.py").read_text() == "changed = True\n"
    assert sorted(path.name for path in folder.iterdir()) == ["train.py"]
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == "xla-lint: train.py: left alone: it has changed meanwhile\nnothing to fix\n"


def test_what_would_not_parse_is_left_alone(folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    def planned(*arguments: object) -> object:
        result = original(*arguments)  # type: ignore[arg-type]
        return type(result)(result.made, result.edits, result.text + ")")

    original = fixing.plan
    monkeypatch.setattr(fixing, "plan", planned)
    assert main(["fix", "."]) == 2
    assert (folder / "train.py").read_text() == BEFORE
    why = "left alone: what the fixes make of it cannot be parsed: unmatched ')'"
    assert capsys.readouterr().err == f"xla-lint: train.py: {why}\nnothing to fix\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everything")
def test_a_protected_file_is_left_alone(folder: Path, capsys: Captured) -> None:
    (folder / "train.py").chmod(0o444)
    assert main(["fix", "."]) == 2
    assert (folder / "train.py").read_text() == BEFORE
    assert "write-protected" in capsys.readouterr().err


def test_a_folder_that_takes_no_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(RewriteError, match="write-protected"):
        rewrite(tmp_path / "gone" / "train.py", b"", b"x")


def test_a_file_that_is_no_python_is_told(folder: Path, capsys: Captured) -> None:
    (folder / "broken.py").write_text("import torch_xla\nx = = 1\n")
    assert main(["fix", "."]) == 2
    assert (folder / "train.py").read_text() == AFTER
    assert "xla-lint: broken.py:2: syntax error" in capsys.readouterr().err


def test_a_comment_that_silences_a_finding_keeps_the_line(folder: Path) -> None:
    text = BEFORE.replace("xm.mark_step()", "xm.mark_step()  # pylint: disable=xla-deprecated-api")
    (folder / "train.py").write_text(text)
    assert main(["fix", "."]) == 0
    assert (folder / "train.py").read_text() == text


def test_options_choose_as_they_do_for_check(folder: Path) -> None:
    assert main(["fix", ".", "--disable=xla-deprecated-api"]) == 0
    assert main(["fix", ".", "--xla-target-version=2.5"]) == 0
    assert (folder / "train.py").read_text() == BEFORE


def test_a_notebook_is_left_alone(folder: Path, capsys: Captured) -> None:
    (folder / "train.ipynb").write_text('{"cells": [], "metadata": {}, "nbformat": 4}')
    assert main(["fix", "."]) == 0
    assert capsys.readouterr().err.startswith("xla-lint: 1 notebook left alone: fixes are for Python files\n")


def test_a_helper_is_fixed_as_a_part_of_its_program(folder: Path) -> None:
    (folder / "train.py").write_text("import torch_xla\nfrom helper import cut\n\ncut()\n")
    (folder / "helper.py").write_text(BEFORE)
    assert main(["fix", "helper.py"]) == 0
    assert (folder / "helper.py").read_text() == AFTER


class TestADiff:
    def test_changes_nothing_and_says_that_there_is_something(self, folder: Path, capsys: Captured) -> None:
        assert main(["fix", "--diff", "."]) == 1
        assert (folder / "train.py").read_text() == BEFORE
        output = capsys.readouterr()
        assert output.out.startswith("--- a/train.py\n+++ b/train.py\n@@ -1,5 +1,4 @@\n import torch_xla\n-import")
        assert output.err == "1 finding to fix in 1 file\n"

    def test_is_empty_where_nothing_changes(self, folder: Path, capsys: Captured) -> None:
        (folder / "train.py").write_text(AFTER)
        assert main(["fix", "--diff", "."]) == 0
        assert capsys.readouterr() == ("", "nothing to fix\n")

    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    @pytest.mark.parametrize("name", ["train.py", "with space.py", "größe.py", "sub/train.py"])
    @pytest.mark.parametrize("last", ["", "\n"])
    def test_is_applied_by_git(
        self, folder: Path, capfdbinary: pytest.CaptureFixture[bytes], end: str, name: str, last: str
    ) -> None:
        (folder / "train.py").unlink()
        (folder / "sub").mkdir()
        text = "# größer\n" + BEFORE.rstrip() + last
        (folder / name).write_bytes(text.replace("\n", end).encode())
        assert main(["fix", "--diff", name]) == 1
        patch = capfdbinary.readouterr().out
        subprocess.run(["git", "init", "--quiet"], check=True)
        subprocess.run(["git", "apply", "-"], input=patch, check=True)
        patched = (folder / name).read_bytes()
        expected = ("# größer\n" + AFTER.rstrip() + last).replace("\n", end).encode()
        assert patched == expected
        (folder / name).write_bytes(text.replace("\n", end).encode())
        assert main(["fix", name]) == 0
        assert (folder / name).read_bytes() == expected


def test_what_is_reported_instead_is_told(folder: Path, capsys: Captured) -> None:
    before = (FIXED / "xla-value-read" / "running_loss_before.py").read_text(encoding="utf-8")
    (folder / "train.py").write_text(before, encoding="utf-8")
    main(["check", "train.py", "--format=json"])
    old = Counter(f["symbol"] for f in json.loads(capsys.readouterr().out)["findings"])
    assert main(["fix", "train.py"]) == 0
    summary = capsys.readouterr().err
    main(["check", "train.py", "--format=json"])
    new = Counter(f["symbol"] for f in json.loads(capsys.readouterr().out)["findings"]) - old
    assert set(new) == {"xla-late-read"}
    assert f"; {new['xla-late-read']} finding of xla-late-read instead" in summary


class TestOtherModules:
    """What other modules import from a file stays there, used or not."""

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("other.py", "from train import xm\n"),
            ("other.py", "def f():\n    from train import (\n        a,\n        xm as y,\n    )\n"),
            ("other.py", "import train\nprint(train.xm)\n"),
            ("other.py", "import train as t\nprint(t.xm)\n"),
            ("other.py", "from train import *\nxm.mark_step()\n"),
            ("deep/other.py", "import sys\nsys.path.append('..')\nfrom train import xm\n"),
        ],
    )
    def test_a_name_that_is_taken_stays(self, folder: Path, name: str, text: str) -> None:
        (folder / "pyproject.toml").touch()
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
        assert main(["fix", "train.py"]) == 0
        assert (folder / "train.py").read_text() == BEFORE.replace("xm.mark_step", "torch_xla.sync")

    @pytest.mark.parametrize(
        "text",
        [
            "import train\nimport torch_xla.core.xla_model as xm\nxm.save(1, 2)\n",
            "from train import main\n",
            "from other import xm\n",
            "print('from train import xm')\n",
        ],
    )
    def test_one_that_is_not_goes(self, folder: Path, text: str) -> None:
        (folder / "pyproject.toml").touch()
        (folder / "another.py").write_text(text)
        assert main(["fix", "train.py"]) == 0
        assert (folder / "train.py").read_text() == AFTER

    def test_of_a_package_too(self, folder: Path) -> None:
        (folder / "mine").mkdir()
        (folder / "train.py").rename(folder / "mine" / "__init__.py")
        (folder / "mine" / "other.py").write_text("from . import xm\n")
        assert main(["fix", "mine/__init__.py"]) == 0
        assert "import torch_xla.core.xla_model as xm" in (folder / "mine" / "__init__.py").read_text()
