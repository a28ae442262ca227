"""The SageMaker rules: what they look for beside the launch script, and that the SDK itself says the same."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from unittest.mock import MagicMock

import pytest
import write_sagemaker

from xla_lint.engine import Settings, check_module
from xla_lint.knowledge.sagemaker import MPI_LAUNCHERS, table
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import decode, parse, read
from xla_lint.rules.base import Finding

FIXTURES = sorted((Path(__file__).parent / "fixtures").glob("xla-sagemaker-*/*.py"))
ESTIMATOR = 'PyTorch("train.py", "2.0.1", "py310", role="r", instance_count=1, instance_type="ml.g5.xlarge", {more})'
LAUNCH = "from sagemaker.pytorch import PyTorch, TrainingCompilerConfig\n" + ESTIMATOR + "\n"
XLA = 'source_dir="src", distribution={"pytorchxla": {"enabled": True}}, compiler_config=TrainingCompilerConfig()'
COMPILED = LAUNCH.replace('"2.0.1", "py310"', '"1.13.1", "py39"').format(more=XLA)
BOTH = "{'torch_distributed': {'enabled': on}, 'mpi': {'enabled': not on}, **more})\n"
LIGHTNING = "import lightning\n"


def lint(folder: Path, text: str, name: str = "launch.py") -> list[Finding]:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return check_module(parse(text, path), Project(folder), Settings())


def symbols(findings: list[Finding]) -> list[str]:
    return [finding.rule.symbol.removeprefix("xla-sagemaker-") for finding in findings]


def write(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("script", "requirements", "expected"),
    [
        (LIGHTNING, None, ["requirements"]),
        (LIGHTNING, "torch-tb-profiler\n", ["requirements"]),
        (LIGHTNING, "# lightning\n", ["requirements"]),
        (LIGHTNING, "lightning==2.2\n", []),
        (LIGHTNING, "-r more.txt\n", []),
        ("import pytorch_lightning\n", "PyTorch_Lightning>=2\n", []),
        ("import model\n", None, ["requirements"]),
        ("try:\n    import lightning\nexcept ImportError:\n    lightning = None\n", None, []),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import lightning\n", None, []),
        ("import os\nos.system('pip install lightning')\n" + LIGHTNING, None, []),
        ("import torch\n", None, []),
        ("import transformers\n", None, []),
        ("def broken(:\n", None, []),
    ],
)
def test_requirements_of_the_entry_script(
    tmp_path: Path, script: str, requirements: str | None, expected: list[str]
) -> None:
    write(tmp_path / "src", train__py=script, model__py=LIGHTNING)
    if requirements is not None:
        write(tmp_path / "src", requirements__txt=requirements)
    assert symbols(lint(tmp_path, LAUNCH.format(more='source_dir="src"'))) == expected


def test_a_package_of_that_name_in_the_folder_is_no_library(tmp_path: Path) -> None:
    write(tmp_path / "src", train__py=LIGHTNING, lightning__py="")
    assert symbols(lint(tmp_path, LAUNCH.format(more='source_dir="src"'))) == []


def test_the_compiler_image_has_no_transformers(tmp_path: Path) -> None:
    write(tmp_path / "src", train__py="import transformers\ndef _mp_fn(index): ...\n")
    assert symbols(lint(tmp_path, COMPILED)) == ["requirements"]


def test_the_folder_may_be_named_from_the_root(tmp_path: Path) -> None:
    write(tmp_path / "src", train__py=LIGHTNING)
    assert symbols(lint(tmp_path, LAUNCH.format(more='source_dir="src"'), "jobs/launch.py")) == ["requirements"]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("def main(): ...\n", ["compiler"]),
        ("def main(): ...\ndef _mp_fn(index): main()\n", []),
        ("from train_loop import _mp_fn\n", []),
        ("from train_loop import *\n", []),
        ("def main(index): ...\nprint(_mp_fn)\n", ["compiler"]),
        ("def main(index): ...\n_mp_fn = main\n", []),
    ],
)
def test_the_launcher_of_the_compiler_calls_mp_fn(tmp_path: Path, script: str, expected: list[str]) -> None:
    write(tmp_path / "src", train__py=script)
    assert symbols(lint(tmp_path, COMPILED)) == expected


@pytest.mark.parametrize("mark", ["SM_HOSTS", "SM_CURRENT_HOST"])
def test_a_script_that_finds_its_peers_needs_no_launcher(tmp_path: Path, mark: str) -> None:
    two = LAUNCH.replace("instance_count=1", "instance_count=2").format(more="")
    write(tmp_path, train__py="import os\n")
    assert symbols(lint(tmp_path, two)) == ["distribution"]
    write(tmp_path, train__py=f"import os\nhosts = os.environ['{mark}']\n")
    assert symbols(lint(tmp_path, two)) == []


@pytest.mark.parametrize(
    ("clause", "gone"),
    [(">=3", True), ("==3.1.0", True), ("~=3.0", True), ("<3", False), (">=2.200", False), ("==2.257.7", False)],
)
def test_sdk_3_has_no_estimators(tmp_path: Path, clause: str, gone: bool) -> None:
    write(tmp_path, requirements__txt=f"boto3\nsagemaker{clause}\n")
    findings = lint(tmp_path, LAUNCH.replace("2.0.1", "2.0.9").format(more=""))
    (finding,) = findings
    assert ("removed in sagemaker 3" in finding.message) is gone
    assert ("no training image" in finding.message) is not gone


def test_what_cannot_be_known_is_not_judged(tmp_path: Path) -> None:
    head = "from sagemaker.pytorch import PyTorch\n"
    for body in [
        "def make(**more):\n    return PyTorch('train.py', instance_count=2, **more)\n",
        "def make(on, more):\n    return PyTorch('train.py', '2.0.1', 'py310', instance_count=2, distribution=" + BOTH,
        "PyTorch('train.py', '9.9.0', 'py399', instance_count=1, instance_type='ml.p9.xlarge')\n",
    ]:
        assert symbols(lint(tmp_path, head + body)) == []


def test_modules_of_other_sagemaker_code_are_silent(tmp_path: Path) -> None:
    text = "import sagemaker\nimport torch\n\nfor rows in loader:\n    total += model(rows).sum().item()\n"
    assert lint(tmp_path, text) == []


# What the SDK itself says: these run where sagemaker 2 is installed.

NEEDS_SDK = pytest.mark.skipif(
    importlib.util.find_spec("sagemaker") is None or not importlib.metadata.version("sagemaker").startswith("2."),
    reason="needs sagemaker 2",
)


@NEEDS_SDK
def test_the_table_is_the_sdks() -> None:
    assert json.loads(write_sagemaker.TABLE.read_text(encoding="utf-8")) == write_sagemaker.table()


def test_what_is_written_by_hand_agrees_with_the_table() -> None:
    assert {name.partition(".")[0] for name in MPI_LAUNCHERS} <= table().launchers


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> MagicMock:
    """A session of the SDK that speaks to nobody."""
    session = MagicMock(boto_region_name="us-east-1", config=None, local_mode=False, sagemaker_config={})
    monkeypatch.setattr("sagemaker.estimator.Session", MagicMock(return_value=session))
    return session


def load(path: Path) -> ModuleType:
    specification = importlib.util.spec_from_file_location(path.stem, path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def launches(path: Path) -> Iterator[tuple[str, Finding | None, object]]:
    """Each function of a fixture that builds an estimator by itself, with what is found in it."""
    text = decode(read(path))
    findings = check_module(parse(text, path), Project(), Settings())
    for name, function in inspect.getmembers(load(path), inspect.isfunction):
        if inspect.signature(function).parameters or name == "main":
            continue
        lines, first = inspect.getsourcelines(function)
        inside = [f for f in findings if first <= int(f.node.lineno or 0) < first + len(lines)]
        yield name, inside[0] if inside else None, function


@NEEDS_SDK
@pytest.mark.usefixtures("session")
@pytest.mark.parametrize(
    "path", [p for p in FIXTURES if "script" not in p.stem], ids=lambda p: f"{p.parent.name}-{p.stem}"
)
def test_the_sdk_raises_where_a_message_says_so(path: Path) -> None:
    """A message that names a ValueError is right about it, and where none is named the SDK takes the estimator."""
    ran = 0
    for name, finding, function in launches(path):
        ran += 1
        raised, at_fit = None, False
        try:
            estimator = function()  # type: ignore[operator]
            at_fit = True
            estimator.hyperparameters()
            estimator.training_image_uri()
        except ValueError as error:
            raised = str(error)
        said = finding is not None and "ValueError" in finding.message
        assert (raised is not None) is said, f"{name}: {raised}, but {finding and finding.message}"
        if finding is not None and "ValueError at fit()" in finding.message:
            assert at_fit, f"{name} is refused before fit(): {raised}"
    assert ran
