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


HEAD = "import torch\nimport torch_xla\nmodel = torch.nn.Linear(3, 3).to('xla')\nx = torch.ones(3, device='xla')\n"


def nested_loops(depth: int) -> dict[str, str]:
    """Loops inside each other, each of which keeps its last two tensors."""
    kept = "".join(f"a{n} = b{n} = None\n" for n in range(depth))
    loops = "".join(
        f"{'  ' * n}for i{n} in range(4):\n{'  ' * n}  b{n} = a{n}\n{'  ' * n}  a{n} = model(x)\n" for n in range(depth)
    )
    return {"train.py": f"{HEAD}{kept}{loops}{'  ' * depth}x = model(x)\n"}


def nested_comprehensions(depth: int) -> dict[str, str]:
    """Comprehensions inside each other's elements, over four items each."""
    element = "x"
    for n in range(depth):
        element = f"[{element} for v{n} in ITEMS]"
    return {"train.py": f"{HEAD}ITEMS = [1, 2, 3, 4]\ny = {element}\n"}


def generators(depth: int) -> dict[str, str]:
    """Generators each of which iterates the one before twice."""
    again = "".join(
        f"def g{n}():\n    for a in g{n - 1}():\n        yield a\n    for a in g{n - 1}():\n        yield a\n"
        for n in range(1, depth)
    )
    return {"train.py": f"{HEAD}def g0():\n    yield x\n{again}for y in g{depth - 1}():\n    print(y)\n"}


def nested_managers(depth: int) -> dict[str, str]:
    """Context managers inside each other, each of which may yield at one of two places."""
    manager = (
        "import contextlib\n@contextlib.contextmanager\ndef scope(a, flag):\n"
        "    if flag:\n        yield a\n    else:\n        yield None\n"
    )
    inside = "".join(f"{'  ' * n}  with scope(x, flag) as y{n}:\n" for n in range(depth))
    return {
        "train.py": f"{HEAD}{manager}def f(x, flag):\n{inside}{'  ' * depth}  print(model(x))\nf(x, len(__doc__))\n"
    }


@pytest.mark.parametrize(
    ("program", "size"),
    [
        (nested_loops, 6),
        (nested_comprehensions, 6),
        (generators, 8),
        (nested_managers, 8),
    ],
)
def test_twice_the_depth_is_a_few_times_the_work(
    program: Callable[[int], dict[str, str]], size: int, tmp_path: Path
) -> None:
    """Twice or three times each level would be 64 times and more."""
    work(growth.many_functions(16), tmp_path / "warm")
    single = work(program(size), tmp_path / "single")
    assert work(program(2 * size), tmp_path / "double") / single < 8


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
    assert work(growth.many_files(20), tmp_path / "whole", whole=True) < 1.6 * script
