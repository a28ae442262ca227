"""A new rule is started in one command, and cannot be left half written."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import new_rule
import pytest

from xla_lint.rules import all_rules
from xla_lint.rules.base import HEADINGS


def test_nothing_in_the_project_is_unfinished() -> None:
    assert new_rule.unfinished(new_rule.ROOT) == []


def test_a_scaffold_is_rejected_until_it_is_filled_in(tmp_path: Path) -> None:
    paths = new_rule.scaffold(tmp_path, "reads", "xla-some-symbol")
    rule, bad, good = paths[:3]
    assert rule == tmp_path / "xla_lint" / "rules" / "reads" / "some_symbol.py"
    assert {bad.parent, good.parent} == {tmp_path / "tests" / "fixtures" / "xla-some-symbol"}
    assert sorted(new_rule.unfinished(tmp_path)) == sorted(paths)
    for path in paths:
        path.write_text(path.read_text(encoding="utf-8").replace(new_rule.MARK, "Written"), encoding="utf-8")
    assert new_rule.unfinished(tmp_path) == []


def test_a_scaffold_is_a_rule_under_the_right_headings(tmp_path: Path) -> None:
    rule = new_rule.scaffold(tmp_path, "reads", "xla-some-symbol")[0]
    module = ast.parse(rule.read_text(encoding="utf-8"))
    (cls,) = [node for node in module.body if isinstance(node, ast.ClassDef)]
    assert cls.name == "SomeSymbol"
    headings = [line.removeprefix("## ") for line in (ast.get_docstring(cls) or "").splitlines() if line[:3] == "## "]
    assert headings == list(HEADINGS)


def test_a_new_number_is_free_and_of_the_family() -> None:
    number = new_rule.free_number("reads")
    assert number.startswith("970")
    assert number not in {rule.number for rule in all_rules()}


@pytest.mark.parametrize(("family", "symbol"), [("nonsense", "xla-some-symbol"), ("reads", "some_symbol")])
def test_nonsense_is_refused(tmp_path: Path, family: str, symbol: str) -> None:
    with pytest.raises(ValueError, match=family if family == "nonsense" else symbol):
        new_rule.scaffold(tmp_path, family, symbol)
    assert list(tmp_path.iterdir()) == []


def test_a_rule_is_never_overwritten(tmp_path: Path) -> None:
    new_rule.scaffold(tmp_path, "reads", "xla-some-symbol")
    with pytest.raises(FileExistsError):
        new_rule.scaffold(tmp_path, "reads", "xla-some-symbol")


TESTS = ("fixtures", "measured", "new_rule", "pages", "rules")
"""What asks something of every rule: the tests of these names."""
OWN = {
    "test_fixtures.py::test_bad_fixtures_expect_their_own_symbol[xla-some-symbol]",
    "test_measured.py::test_bad_fixtures_cost_more_than_good_ones[xla-some-symbol-executions]",
    "test_new_rule.py::test_nothing_in_the_project_is_unfinished",
}
"""The tests that a skeleton fails."""


@pytest.mark.skipif(bool(new_rule.unfinished(new_rule.ROOT)), reason="another rule is being written")
def test_a_skeleton_fails_its_own_tests_alone(tmp_path: Path) -> None:
    for part in ("xla_lint", "scripts", "tests", "docs", "pyproject.toml"):
        source = new_rule.ROOT / part
        if source.is_dir():
            shutil.copytree(source, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, tmp_path / part)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "scripts/new_rule.py", "reads", "xla-some-symbol"]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert "xla-some-symbol" in (tmp_path / "docs" / "rules" / "README.md").read_text(encoding="utf-8")
    style = [sys.executable, "-m", "ruff"]
    for check in (["check"], ["format", "--check"]):
        subprocess.run([*style, *check, "--no-cache", "xla_lint/rules/reads/some_symbol.py"], cwd=tmp_path, check=True)
    files = [f"tests/test_{name}.py" for name in TESTS]
    others = "not skeleton and (some-symbol or not those_expected)"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rf", "-p", "no:cacheprovider", "-p", "no:xdist", "-k", others, *files],
        cwd=tmp_path,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    failed = re.findall(r"^FAILED tests/(\S+)", done.stdout, re.MULTILINE)
    assert set(failed) == OWN, done.stdout
    assert "error" not in done.stdout.splitlines()[-1]
