"""The cache: the same answers as without it, whatever was edited, and few analyses."""

from __future__ import annotations

import ast
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import xla_lint
from xla_lint.cli import one
from xla_lint.cli.main import main
from xla_lint.program.project.source import read

Captured = pytest.CaptureFixture[str]
PACKAGE = Path(__file__).parent.parent / "xla_lint"
FILES = {
    "pyproject.toml": '[project]\nname = "x"\ndependencies = ["torch_xla==2.9"]\n',
    "train.py": """\
import torch_xla
import torch_xla.core.xla_model as xm
from helpers import note
from package.model import build

device = xm.xla_device()
model = build().to(device)
for batch in loader:
    loss = model(batch.to(device)).sum()
    loss.backward()
    note(loss)
    torch_xla.sync()
""",
    "helpers.py": "def note(loss):\n    print(loss.item())\n",
    "package/__init__.py": "",
    "package/model.py": """\
import torch

class Net(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            x = x + 1
        return x

def build():
    return Net()
""",
    "launch.py": """\
from sagemaker.pytorch import PyTorch

PyTorch(
    entry_point="job.py", source_dir="jobs", role="r", instance_type="ml.trn1.2xlarge", instance_count=1,
    framework_version="2.0.1", py_version="py310",
)
""",
    "jobs/job.py": "import torch\n",
    "plain.py": "print('outside')\n",
    "explore.ipynb": json.dumps(
        {
            "cells": [
                {"cell_type": "code", "source": "import torch_xla\nfrom package.model import build"},
                {"cell_type": "code", "source": "model = build().to('xla')\nfor x in y:\n    print(model(x).item())"},
            ]
        }
    ),
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of a training script, what it imports, and a launch script; also the current folder."""
    root = tmp_path / "project"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def analysed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that were analysed."""
    names: list[str] = []
    before = one.check_one

    def noted(path: str, *rest: Any) -> Any:
        names.append(path)
        return before(path, *rest)

    monkeypatch.setattr("xla_lint.cli.many.check_one", noted)
    return names


Report = Callable[..., tuple[int, str]]


@pytest.fixture
def report(capsys: Captured) -> Report:
    """Runs a check of the current folder, and gives its status and its output."""

    def run(*options: str) -> tuple[int, str]:
        return main(["check", ".", "--format=json", *options]), capsys.readouterr().out

    return run


def symbols(output: str) -> set[tuple[str, str]]:
    return {(finding["path"], finding["symbol"]) for finding in json.loads(output)["findings"]}


def write(name: str, text: str) -> Callable[[], None]:
    def edit() -> None:
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)

    return edit


def move(old: str, new: str) -> Callable[[], None]:
    return lambda: Path(old).exists() and Path(old).replace(new)  # type: ignore[return-value]


EDITS: dict[str, Callable[[], None]] = {
    "an imported file reads nothing": write("helpers.py", "def note(loss):\n    pass\n"),
    "an imported file reads again": write("helpers.py", FILES["helpers.py"]),
    "an imported file is broken": write("helpers.py", "def note(loss:\n"),
    "the script calls no helper": write("train.py", FILES["train.py"].replace("    note(loss)\n", "")),
    "the script imports no model": write("train.py", FILES["train.py"].replace("from package.model import build", "")),
    "the script is whole": write("train.py", FILES["train.py"]),
    "a package gains a member": write("package/other.py", "import torch_xla\nfrom .model import Net\n"),
    "a member says more": write("package/other.py", "import torch_xla\nfrom .model import Net\nNet().to('xla')\n"),
    "a file hides another": write("package.py", "def build():\n    return None\n"),
    "a file goes": lambda: Path("package.py").unlink(missing_ok=True),
    "the model is renamed": move("package/model.py", "package/net.py"),
    "the model is back": move("package/net.py", "package/model.py"),
    "an older release": write("pyproject.toml", FILES["pyproject.toml"].replace("2.9", "2.3")),
    "the release again": write("pyproject.toml", FILES["pyproject.toml"]),
    "other settings": write("pyproject.toml", '[tool.xla-lint]\ndisable = ["xla-value-read"]\n'),
    "the launch script starts another": write("launch.py", FILES["launch.py"].replace("job.py", "package/model.py")),
    "the launch script starts the job": write("launch.py", FILES["launch.py"]),
    "the job needs more": write("jobs/job.py", "import lightning\n"),
    "the job lists what it needs": write("jobs/requirements.txt", "lightning\n"),
    "the job lists nothing": lambda: Path("jobs/requirements.txt").unlink(missing_ok=True),
    "nothing": lambda: Path("train.py").touch(),
}


@pytest.mark.usefixtures("project")
class TestAnswers:
    @pytest.mark.parametrize("name", EDITS)
    def test_are_the_same_after_an_edit(self, name: str, report: Report) -> None:
        report()
        EDITS[name]()
        assert report() == report("--no-cache")
        assert report() == report("--no-cache")

    @pytest.mark.parametrize("seed", range(3))
    def test_are_the_same_after_many_edits(self, seed: int, report: Report) -> None:
        for edit in random.Random(seed).choices(list(EDITS.values()), k=12):
            edit()
            assert report() == report("--no-cache")

    def test_tell_the_edits_apart(self, report: Report) -> None:
        """Else the tests above would show nothing."""
        seen = {report()[1]}
        for name in ("an imported file reads nothing", "the script imports no model", "an older release"):
            EDITS[name]()
            output = report()[1]
            assert output not in seen
            seen.add(output)
        assert ("launch.py", "xla-sagemaker-requirements") not in symbols(output)
        EDITS["the job needs more"]()
        assert ("launch.py", "xla-sagemaker-requirements") in symbols(report()[1])
        EDITS["the job lists what it needs"]()
        assert ("launch.py", "xla-sagemaker-requirements") not in symbols(report()[1])

    def test_know_what_is_added_to_the_search_path(self, report: Report) -> None:
        write("lib/probe.py", "def probe(loss):\n    return loss.item()\n")()
        train = FILES["train.py"].replace("import note", "import note\nfrom probe import probe")
        write("train.py", train.replace("note(loss)", "probe(loss)"))()
        for adding, found in (("import sys\nsys.path.append('lib')\n", True), ("", False)):
            write("paths.py", adding)()
            assert (("lib/probe.py", "xla-value-read") in symbols(report()[1])) is found
            assert report() == report("--no-cache")

    def test_notice_an_edit_that_restores_size_and_time(self, report: Report) -> None:
        path = Path("helpers.py")
        os.utime(path, ns=(10**18, 10**18))
        report()
        path.write_text(FILES["helpers.py"].replace("print(loss.item())", "print(loss.shape )"))
        os.utime(path, ns=(10**18, 10**18))
        assert report() == report("--no-cache")

    def test_name_the_file_as_it_is_given(self, project: Path, report: Report, capsys: Captured) -> None:
        report()
        main(["check", str(project / "helpers.py"), "--format=json"])
        assert symbols(capsys.readouterr().out) == {(str(project / "helpers.py"), "xla-value-read")}

    def test_differ_by_what_was_chosen(self, report: Report) -> None:
        assert ("helpers.py", "xla-value-read") in symbols(report()[1])
        assert ("helpers.py", "xla-value-read") not in symbols(report("--disable=xla-value-read")[1])
        assert ("helpers.py", "xla-value-read") in symbols(report()[1])


@pytest.mark.usefixtures("project")
class TestAnalyses:
    def test_are_not_repeated(self, analysed: list[str], report: Report) -> None:
        first = report()
        assert {"train.py", "helpers.py", "package/model.py", "launch.py"} <= set(analysed)
        analysed.clear()
        assert report() == first
        assert analysed == []

    def test_are_repeated_where_an_edit_matters(self, analysed: list[str], report: Report) -> None:
        report()
        analysed.clear()
        Path("jobs/job.py").write_text("import numpy\n")
        report()
        assert set(analysed) == {"launch.py", "jobs/job.py"}
        analysed.clear()
        Path("helpers.py").write_text(FILES["helpers.py"] + "\n")
        report()
        assert "launch.py" not in analysed
        assert {"train.py", "helpers.py"} <= set(analysed)

    def test_are_not_repeated_for_what_does_not_parse(self, analysed: list[str], report: Report) -> None:
        Path("train.py").write_text("import torch_xla\nx = = 1\n")
        first = report()
        analysed.clear()
        assert report() == first
        assert first[0] == 2
        assert analysed == []

    def test_are_repeated_for_what_an_error_of_our_own_ended(
        self, analysed: list[str], report: Report, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: Any) -> None:
            raise KeyError

        monkeypatch.setattr("xla_lint.engine.examine", fail)
        assert report()[0] == 2
        first = list(analysed)
        report()
        assert analysed == first * 2

    def test_are_not_even_read_where_no_file_has_changed(
        self, project: Path, analysed: list[str], report: Report, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for path in project.rglob("*.py"):
            os.utime(path, (0, 0))
        monkeypatch.setattr("xla_lint.cli.cache.UNMISTAKABLE", -1)
        first = report()
        analysed.clear()
        monkeypatch.setattr(
            "xla_lint.cli.many.read", lambda path: read(path) if path.endswith("b") else pytest.fail(path)
        )
        assert report() == first
        assert analysed == []

    def test_are_not_kept_on_request(self, analysed: list[str], report: Report) -> None:
        report("--no-cache")
        first = list(analysed)
        report("--no-cache")
        assert analysed == first * 2


@pytest.mark.usefixtures("project")
class TestFiles:
    @pytest.mark.parametrize(
        "damage",
        [
            lambda content: content[:0],
            lambda content: content[: len(content) // 2],
            lambda content: content[:-1],
            lambda content: content.replace(b"xla-value-read", b"xla-late-read"),
            lambda content: b"\x00" + content,
            lambda content: content.partition(b"\n")[2],
            lambda content: b"f" * 32 + content[32:],
        ],
    )
    def test_damage_is_ignored_and_mended(
        self, damage: Callable[[bytes], bytes], tmp_path: Path, analysed: list[str], report: Report
    ) -> None:
        option = f"--cache-dir={tmp_path / 'kept'}"
        first = report(option)
        [path] = (tmp_path / "kept").glob("*.json")
        path.write_bytes(damage(path.read_bytes()))
        analysed.clear()
        assert report(option) == first
        assert analysed
        analysed.clear()
        assert report(option) == first
        assert analysed == []

    def test_a_folder_that_cannot_be_written(self, tmp_path: Path, report: Report) -> None:
        (tmp_path / "file").touch()
        assert report(f"--cache-dir={tmp_path / 'file'}") == report("--no-cache")

    def test_runs_at_the_same_time(self, tmp_path: Path, project: Path, analysed: list[str], report: Report) -> None:
        kept = tmp_path / "kept"
        command = [sys.executable, "-m", "xla_lint", "check", ".", "--format=json", f"--cache-dir={kept}"]
        environment = {**os.environ, "PYTHONPATH": str(Path(xla_lint.__file__).parent.parent)}
        runs = [subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) for _ in range(3)]
        outputs = {run.communicate()[0] for run in runs}
        assert outputs == {report("--no-cache")[1]}
        analysed.clear()
        assert {report(f"--cache-dir={kept}")[1]} == outputs
        assert analysed == []
        assert {path.suffix for path in kept.iterdir()} == {".json", ""}

    def test_what_went_is_forgotten(self, tmp_path: Path, project: Path, report: Report) -> None:
        option = f"--cache-dir={tmp_path / 'kept'}"
        report(option)
        [path] = (tmp_path / "kept").glob("*.json")
        assert b"project/helpers.py" in path.read_bytes()
        Path("helpers.py").unlink()
        report(option)
        assert b"project/helpers.py" not in path.read_bytes().replace(b'"exists", ', b"")


LOOKS = frozenset(
    {"read_text", "read_bytes", "exists", "is_file", "is_dir", "iterdir", "glob", "rglob", "stat", "open"}
)


@pytest.mark.parametrize("folder", ["program", "rules"])
def test_the_analysis_sees_files_through_the_project_alone(folder: str) -> None:
    doors = {
        PACKAGE / "program" / "project" / name
        for name in ("project.py", "roots.py", "file_summary.py", "source.py", "scope.py")
    }
    for path in set((PACKAGE / folder).rglob("*.py")) - doors:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in LOOKS:
                asked = ast.unparse(node)
                assert asked.endswith(("project.exists", "api.exists")), f"{path}:{node.lineno}: {asked}"
