"""The table of arguments: what it says between the releases that were read, and that the packages say the same."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import inspect
from pathlib import Path
from typing import Any

import pytest

from xla_lint.engine import Settings, check_module
from xla_lint.knowledge.arguments import Signature, Taken, signatures
from xla_lint.knowledge.releases import release
from xla_lint.program.project.project import Project
from xla_lint.program.project.scope import NEWEST, Version, declared_version, pinned_version
from xla_lint.program.project.source import parse

HOMES = {"transformers": "transformers", "accelerate": "accelerate"}
CLASSES = [(package, name) for package in HOMES for name in signatures(package)]
SCRIPT = "import torch_xla\nfrom transformers import TrainingArguments\nTrainingArguments('out', {argument}=1)\n"


@pytest.mark.parametrize(("package", "name"), CLASSES, ids=[name for _, name in CLASSES])
def test_the_installed_package_takes_what_the_table_says(package: str, name: str) -> None:
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"needs {package}")
    installed = release(".".join(importlib.metadata.version(package).split(".")[:2]))
    signature = signatures(package)[name]
    if installed not in signature.releases:
        pytest.skip(f"{package} {installed} was not read")
    cls: Any = getattr(importlib.import_module(package), name)
    real = set(inspect.signature(cls.__init__).parameters) - {"self"}
    said = {argument for argument in signature.arguments if signature.takes(argument, installed)}
    assert real <= said
    assert said - real <= {"tokenizer"}, "a decorator may still take it"


SEEN = Signature(
    ((4, 10), (4, 20), (5, 0)),
    {"old": Taken((4, 10), (4, 20)), "new": Taken((5, 0), (5, 0)), "kept": Taken((4, 10), (5, 0))},
)


@pytest.mark.parametrize(
    ("target", "taken"),
    [
        ((4, 5), {"old", "kept", "never"}),
        ((4, 10), {"old", "kept"}),
        ((4, 20), {"old", "kept"}),
        ((4, 99), {"old", "new", "kept"}),
        ((5, 0), {"new", "kept"}),
        ((6, 0), {"new", "kept"}),
        (None, {"new", "kept"}),
    ],
)
def test_between_two_releases_an_argument_of_either_counts(target: tuple[int, int] | None, taken: set[str]) -> None:
    assert {argument for argument in (*SEEN.arguments, "never") if SEEN.takes(argument, target)} == taken


@pytest.mark.parametrize(
    ("requirement", "version"),
    [
        ("transformers==4.57.6", Version(4, 57)),
        ("transformers~=4.40", Version(4, 99)),
        ("transformers~=4.40.0", Version(4, 40)),
        ("transformers<5", Version(4, 99)),
        ("transformers<4.50", Version(4, 49)),
        ("transformers>=4.40", None),
        ("torch", None),
    ],
)
def test_a_pinned_release_is_found(tmp_path: Path, requirement: str, version: Version | None) -> None:
    (tmp_path / "requirements.txt").write_text(requirement + "\n", encoding="utf-8")
    assert pinned_version(tmp_path, "transformers") == version


@pytest.mark.parametrize(
    ("requirements", "version"),
    [
        ("torch==2.7.0", Version(2, 7)),
        ("torch<2.6\ntorchvision==0.20", Version(2, 5)),
        ("torch==2.7.0\ntorch_xla==2.8", Version(2, 8)),
        ("torch==2.7.0\ntorch-xla>=2.5", None),
        ("torch>=2.4", None),
        ("torch==2.99", NEWEST),
    ],
)
def test_a_pin_of_torch_stands_for_torch_xla(tmp_path: Path, requirements: str, version: Version | None) -> None:
    (tmp_path / "requirements.txt").write_text(requirements + "\n", encoding="utf-8")
    assert declared_version(tmp_path) == version


@pytest.mark.parametrize(
    ("requirement", "argument", "reported"),
    [
        ("transformers==4.57.6", "tpu_num_cores", False),
        ("transformers==5.0.0", "tpu_num_cores", True),
        ("", "tpu_num_cores", True),
        ("transformers==4.57.6", "preprocessing_num_workers", True),
        ("transformers<5", "evaluation_strategy", True),
        ("transformers<4.45", "evaluation_strategy", False),
        ("", "bf16", False),
        ("transformers==3.5.0", "prediction_loss_only", False),
        ("transformers<4", "preprocessing_num_workers", False),
    ],
)
def test_the_declared_release_decides(tmp_path: Path, requirement: str, argument: str, reported: bool) -> None:
    (tmp_path / "requirements.txt").write_text(requirement + "\n", encoding="utf-8")
    module = parse(SCRIPT.format(argument=argument), tmp_path / "train.py")
    findings = check_module(module, Project(tmp_path), Settings(), {"xla-unknown-argument"})
    assert len(findings) == int(reported)


def test_nothing_is_said_of_releases_that_were_not_read() -> None:
    module = parse(SCRIPT.format(argument="preprocessing_num_workers"), "train.py")
    (finding,) = check_module(module, Project(), Settings(), {"xla-unknown-argument"})
    assert "TrainingArguments of transformers 4.6 and later does not take" in finding.message
