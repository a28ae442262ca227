"""`# xla-lint: ignore[symbol] reason`, by both doors."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Door
from tests.doors import pylint
from xla_lint.cli.main import main
from xla_lint.engine import Settings
from xla_lint.failures import check
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import parse
from xla_lint.program.syntax.ignore_comments import ignore_comments
from xla_lint.runtime.findings import Linted

HEAD = """\
import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for step in range(5):
    optimizer.zero_grad()
    loss = model(torch.ones(2, 4, device=device)).mean()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
"""
READ, UNUSED, INVALID = "xla-value-read", "xla-unused-ignore", "xla-invalid-ignore"
IGNORE = f"# xla-lint: ignore[{READ}]"


def program(*lines: str) -> str:
    """A step whose last lines before the barrier are these: line 13 and those below."""
    return HEAD.replace("    torch_xla.sync()", "\n".join(f"    {line}" for line in (*lines, "torch_xla.sync()")))


@pytest.mark.parametrize(
    ("lines", "left"),
    [
        ([f"total = loss.item()  {IGNORE}"], []),
        ([f"total = loss.item()  {IGNORE} one number a step is meant"], []),
        (["total = loss.item()  # xla-lint: ignore[W9701]"], []),
        ([f"total = loss.item()  # noqa: F841  {IGNORE}"], []),
        (["total = loss.item()  # xla-lint: ignore[ xla-value-read ,xla-late-read]"], [(13, UNUSED)]),
        ([IGNORE, "total = loss.item()"], []),
        ([IGNORE, "", "# why", "total = loss.item()"], []),
        ([IGNORE, "total = loss.item()", "more = loss.item()"], [(15, READ)]),
        (["total = (", "    loss.item()", f")  {IGNORE}"], []),
        ([f"total = (  {IGNORE}", "    loss", "    .item()", ")"], []),
        (["total = (", f"    1 +  {IGNORE}", "    loss.item()", ")"], []),
        ([f"if step:  {IGNORE}", "    total = loss.item()"], [(13, UNUSED), (14, READ)]),
        (["total = loss.item()  # xla-lint: ignore[xla-late-read]"], [(13, UNUSED), (13, READ)]),
        (["total = loss.item()", IGNORE], [(13, READ), (14, UNUSED)]),
        ([f'text = "{IGNORE}"', "total = loss.item()"], [(14, READ)]),
        (["total = loss.item()  # xla-lint: ignore"], [(13, READ), (13, INVALID)]),
        (["total = loss.item()  # xla-lint: ignore[]"], [(13, READ), (13, INVALID)]),
        (["total = loss.item()  # xla-lint: ignore[xla-value-read"], [(13, READ), (13, INVALID)]),
        (["total = loss.item()  # xla-lint: ignore(xla-value-read)"], [(13, READ), (13, INVALID)]),
        (["total = loss.item()  # XLA-lint: ignore[xla-value-read]"], [(13, READ), (13, INVALID)]),
        (["total = loss.item()  # xla-lint: disable=xla-value-read"], [(13, READ), (13, INVALID)]),
        (["total = loss.item()  # xla-lint: skip"], [(13, READ), (13, INVALID)]),
        (["total = loss.item()  # xla-lint: ignore[reads]"], [(13, READ), (13, INVALID)]),
        (["total = loss.item()  # xla-lint: wants this after the barrier"], [(13, READ)]),
        (["total = loss.item()  # the xla-lint page on reads"], [(13, READ)]),
    ],
)
def test_a_comment(door: Door, tmp_path: Path, lines: list[str], left: list[tuple[int, str]]) -> None:
    path = tmp_path / "train.py"
    path.write_text(program(*lines))
    wanted = [symbol for _, symbol in left]
    found = [(line, symbol) for line, symbol in door(path) if symbol in {READ, UNUSED, INVALID}]
    assert sorted(found) == sorted(left), wanted


def test_a_decorated_function_is_one_statement() -> None:
    text = f"{IGNORE}\n@first\n@second(\n    1\n)\ndef f(): pass\nx = 1\n"
    ((first, last),) = [(comment.first, comment.last) for comment in ignore_comments(text)]
    assert (first, last) == (2, 6)


def test_it_is_idle_only_where_all_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "train.py"
    path.write_text(program(f"kept = loss  {IGNORE}"))
    assert [m.symbol for m in pylint(path, messages=("--disable=all", f"--enable={READ}"))] == []
    assert [m.symbol for m in pylint(path)] == [UNUSED]
    monkeypatch.setattr("xla_lint.rules.reads.value_read.ValueRead.check", lambda *_: 1 / 0)
    path = tmp_path / "other.py"
    path.write_text(program("total = loss.item()", f"kept = loss  {IGNORE}"))
    assert UNUSED not in [m.symbol for m in pylint(path)]


def test_outside_the_scope_nothing_is_said(door: Door, tmp_path: Path) -> None:
    path = tmp_path / "plain.py"
    path.write_text(f"x = 1  {IGNORE}\n")
    assert door(path) == []


def test_columns_are_those_of_the_comment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "train.py"
    path.write_text(program(f"name = 'é'  {IGNORE}"), encoding="utf-8")
    assert main(["check", str(path)]) == 1
    first, source, carets = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{path}:13:17: R9797 {UNUSED} nothing is found here that {READ} would report; take the c")
    assert carets.index("^") == source.index("#")
    assert carets.count("^") == len(IGNORE)


def test_a_run_still_knows_what_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(program(f"total = loss.item()  {IGNORE}"))
    checked = check(parse(path.read_text(), path), Project(), Settings())
    assert (checked.findings, [f.rule.symbol for f in checked.ignored]) == ([], [READ])
    assert [span.symbol for span in Linted().spans(str(path))] == [READ]


def test_a_comment_behind_the_last_statement_is_for_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "train.py"
    path.write_text(program("total = loss.item()") + "# xla-lint: ignore[xla-value-read]\n")
    assert main(["check", "--no-cache", "--format=concise", str(path)]) == 1
    found = capsys.readouterr().out
    assert READ in found
    assert UNUSED in found
