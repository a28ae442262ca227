"""Each program in `tests/fixed/` becomes its twin, which parses, has lost the findings, and needs nothing more."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from xla_lint.cli.config import Choice
from xla_lint.cli.fixing import Repaired, repaired
from xla_lint.cli.many import Job, check_file
from xla_lint.cli.selection import Selection
from xla_lint.engine import Settings
from xla_lint.program.project.project import Project
from xla_lint.rules import all_rules, rule_named

FIXED = Path(__file__).parent.parent / "fixed"
PAIRS = sorted(path for path in FIXED.glob("*/*_before.py"))
EVERYTHING = Selection(frozenset(rule.symbol for rule in all_rules()))


def only(symbol: str) -> Choice:
    return Choice(Settings(), Selection(frozenset({symbol})), EVERYTHING, None)


def after(tmp_path: Path, text: str) -> list[str]:
    """The lines that a program gets by the fixes of `xla-value-read`."""
    file = fix(tmp_path / "train.py", text, only("xla-value-read"))
    old = text.splitlines()
    return [line.strip() for line in file.new.decode().splitlines() if line not in old]


each_pair = pytest.mark.parametrize("before", PAIRS, ids=lambda path: f"{path.parent.name}/{path.stem[:-7]}")


def twin(before: Path) -> Path:
    return before.with_name(before.name.replace("_before", "_after"))


def fix(path: Path, source: str, choice: Choice) -> Repaired:
    path.write_text(source, encoding="utf-8")
    (file,) = repaired({str(path): choice}, unsafe=True)
    assert file.problem is None
    return file


def findings(path: Path, source: str) -> list[tuple[str, str]]:
    path.write_text(source, encoding="utf-8")
    Project.forget()
    outcome = check_file(Job(str(path), Settings()))
    assert not outcome.problems
    return [(finding.symbol, finding.source.strip()) for finding in outcome.findings]


@each_pair
def test_it_becomes_its_twin(before: Path, tmp_path: Path) -> None:
    file = fix(tmp_path / "train.py", before.read_text(encoding="utf-8"), only(before.parent.name))
    assert file.new.decode() == twin(before).read_text(encoding="utf-8")
    assert {finding.symbol for finding, _ in file.made} == {before.parent.name}
    assert {made for _, made in file.made} <= set(rule_named(before.parent.name).fixes)


@each_pair
def test_its_twin_needs_nothing_more(before: Path, tmp_path: Path) -> None:
    source = twin(before).read_text(encoding="utf-8")
    file = fix(tmp_path / "train.py", source, only(before.parent.name))
    assert file.new == file.old
    assert not file.made


@each_pair
def test_its_twin_has_lost_the_findings_and_gained_none(before: Path, tmp_path: Path) -> None:
    old = findings(tmp_path / "train.py", before.read_text(encoding="utf-8"))
    new = findings(tmp_path / "train.py", twin(before).read_text(encoding="utf-8"))
    symbol = before.parent.name
    assert symbol in {found for found, _ in old}
    assert symbol not in {found for found, _ in new}
    assert {found for found, _ in new} - {found for found, _ in old} <= {"xla-late-read"}


@each_pair
def test_both_parse(before: Path) -> None:
    for path in (before, twin(before)):
        ast.parse(path.read_text(encoding="utf-8"))


def test_every_rule_with_a_fix_has_a_pair() -> None:
    assert {rule.symbol for rule in all_rules() if rule.fixes} == {path.parent.name for path in PAIRS}
