"""A new rule is started in one command, and cannot be left half written."""

from __future__ import annotations

import ast
from pathlib import Path

import new_rule
import pytest

from xla_lint.rules import all_rules
from xla_lint.rules.base import HEADINGS


def test_nothing_in_the_project_is_unfinished() -> None:
    assert new_rule.unfinished(new_rule.ROOT) == []


def test_every_rule_has_fixtures_and_every_fixture_folder_a_rule() -> None:
    folders = new_rule.ROOT / "tests" / "fixtures"
    kinds = {
        folder.name: {path.name.partition("_")[0] for path in folder.glob("*.py")}
        for folder in folders.iterdir()
        if folder.is_dir() and folder.name != "__pycache__"
    }
    assert kinds == {rule.symbol: {"bad", "good"} for rule in all_rules()}


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


def test_every_number_is_of_its_family() -> None:
    for rule in all_rules():
        assert int(rule.number) // 10 in new_rule.TENS[rule.__module__.split(".")[-2]], rule.symbol


@pytest.mark.parametrize(("family", "symbol"), [("nonsense", "xla-some-symbol"), ("reads", "some_symbol")])
def test_nonsense_is_refused(tmp_path: Path, family: str, symbol: str) -> None:
    with pytest.raises(ValueError, match=family if family == "nonsense" else symbol):
        new_rule.scaffold(tmp_path, family, symbol)
    assert list(tmp_path.iterdir()) == []


def test_a_rule_is_never_overwritten(tmp_path: Path) -> None:
    new_rule.scaffold(tmp_path, "reads", "xla-some-symbol")
    with pytest.raises(FileExistsError):
        new_rule.scaffold(tmp_path, "reads", "xla-some-symbol")
