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


def work(files: dict[str, str], folder: Path) -> int:
    """How many functions are called while the script of a program is checked."""
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    path = folder / "train.py"
    module = parse(files["train.py"], path)
    calls = 0

    def count(_: FrameType, event: str, __: Any) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        check_module(module, Project(folder), Settings())
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize(
    ("program", "size", "most"),
    [
        (growth.many_functions, 400, 2.2),
        (growth.long_function, 60, 2.2),
        (growth.deep_calls, 6, 2.2),
        (growth.ring, 5, 2.5),
        (growth.many_files, 5, 2.2),
    ],
)
def test_twice_the_program_is_about_twice_the_work(
    program: Callable[[int], dict[str, str]], size: int, most: float, tmp_path: Path
) -> None:
    work(growth.many_functions(16), tmp_path / "warm")
    single = work(program(size), tmp_path / "single")
    double = work(program(2 * size), tmp_path / "double")
    assert 1 < double / single < most
