"""How much work a check does as programs grow, counted in calls of functions: the same on every machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import growth
import pytest

from xla_lint.engine import Settings, check_module
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import parse


def work(files: dict[str, str], folder: Path, *, whole: bool = False) -> int:
    """How many functions are called while the script of a program, or each of its files, is checked."""
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    modules = [parse(files[name], folder / name) for name in (files if whole else ("train.py",))]
    project = Project(folder)
    calls = 0

    def count(_: FrameType, event: str, __: Any) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        for module in modules:
            check_module(module, project, Settings())
    finally:
        sys.setprofile(before)
    return calls


def same_names(count: int) -> dict[str, str]:
    """Classes whose methods have the same names, and call each other by these."""
    methods = "".join(f"    def m{n}(self, x):\n        return self.m{n + 1}(x)\n" for n in range(3))
    return {"train.py": "import torch_xla\n" + "".join(f"class C{n}:\n{methods}" for n in range(count))}


@pytest.mark.parametrize(
    ("program", "size", "most"),
    [
        (growth.many_functions, 400, 2.2),
        (growth.long_function, 60, 2.2),
        (growth.deep_calls, 6, 2.2),
        (growth.ring, 5, 2.5),
        (growth.many_files, 5, 2.2),
        (same_names, 100, 2.2),
    ],
)
def test_twice_the_program_is_about_twice_the_work(
    program: Callable[[int], dict[str, str]], size: int, most: float, tmp_path: Path
) -> None:
    work(growth.many_functions(16), tmp_path / "warm")
    single = work(program(size), tmp_path / "single")
    double = work(program(2 * size), tmp_path / "double")
    assert 1 < double / single < most


def test_each_file_of_a_program_is_judged_with_the_others_at_once(tmp_path: Path) -> None:
    work(growth.many_functions(16), tmp_path / "warm")
    script = work(growth.many_files(20), tmp_path / "script")
    assert work(growth.many_files(20), tmp_path / "whole", whole=True) < 1.5 * script
