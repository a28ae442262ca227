"""What bounds the analysis, and how it is told where a bound was reached."""

from __future__ import annotations

from pathlib import Path

import pytest

from xla_lint import failures
from xla_lint.cli.main import main
from xla_lint.engine import Settings, check_module
from xla_lint.program.machine.limits import MOST_CALLS, Limit, Limits
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import parse

HEAD = "import torch\nimport torch_xla\ndevice = torch_xla.device()\n"
DEEP = (
    HEAD
    + "".join(f"def f{i}(x):\n    return f{i + 1}(x)\n" for i in range(MOST_CALLS + 2))
    + f"def f{MOST_CALLS + 2}(x):\n    return x\nf0(torch.ones(2, device=device))\n"
)


def given_up(source: str) -> list[tuple[int | None, str]]:
    checked = failures.check(parse(source, "train.py"), Project(), Settings())
    assert not checked.failures
    return [(limit.line, limit.message) for limit in checked.limits]


def test_small_programs_reach_no_bound() -> None:
    assert not given_up(HEAD + "for _ in range(3):\n    print(torch.ones(2, device=device))\n    torch_xla.sync()\n")


def test_calls_are_followed_so_deep() -> None:
    line = DEEP.splitlines().index(f"    return f{MOST_CALLS}(x)") + 1
    assert given_up(DEEP) == [(line, Limit.CALLS.value)]


def test_a_function_is_followed_for_so_many_arguments() -> None:
    body = "".join(f"    x = x + {i}\n" for i in range(120))
    many = "".join(f"f(torch.ones(2, device=device), '{i}' + str({i}), {{'a{i}': x}})\n" for i in range(30))
    source = f"{HEAD}x = 1\ndef f(x, *more):\n{body}    return x\n{many}"
    assert given_up(source) == [(5, Limit.RUNS.value)]


def test_a_program_is_followed_for_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xla_lint.program.machine.machine.Limits", lambda: Limits(work=3))
    assert given_up(HEAD + "def f():\n    pass\nf()\n") == [(6, Limit.WORK.value)]


def test_the_place_is_told_when_asked_for_and_remembered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "train.py").write_text(DEEP, encoding="utf-8")
    command = ["check", "--cache-dir", str(tmp_path / "cache"), "train.py"]
    assert main(command) == 0
    assert Limit.CALLS.value not in capsys.readouterr().err
    for _ in ("analysed", "remembered"):
        assert main([*command, "--verbose"]) == 0
        assert f"xla-lint: train.py:{DEEP.splitlines().index(f'    return f{MOST_CALLS}(x)') + 1}: calls are" in (
            capsys.readouterr().err
        )


def test_one_loop_leaves_the_others_what_they_need() -> None:
    """A function that loop after loop calls with other arguments is still followed in the last one."""
    tests = "".join(f"        x = x + {n} if kind == {n} else x * scale\n" for n in range(120))
    loops = "".join(
        f"    for _ in range(steps):\n        x, last = refine(x, {n}, {n}.5)\n        torch_xla.sync()\n"
        for n in range(24)
    )
    code = (
        "import torch\nimport torch_xla\n\ndef main(steps):\n    device = torch_xla.device()\n"
        "    model = torch.nn.Linear(4, 4).to(device)\n    x = torch.ones(2, 4, device=device)\n"
        f"    def refine(x, kind, scale):\n        out = model(x)\n{tests}        return x, out\n{loops}"
        "    for _ in range(steps):\n        x, out = refine(x, 3, 0.5)\n        print(out.mean().item())\n"
        "        torch_xla.sync()\n\nmain(10)\n"
    )
    found = check_module(parse(code, "train.py"), Project(), Settings(), frozenset({"xla-value-read"}))
    assert [finding.rule.symbol for finding in found] == ["xla-value-read"]
