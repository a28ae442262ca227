"""Every fixture gets the findings that its `# expect:` comments name, and no others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from xla_lint.engine import Settings, check_module, default_symbols
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import decode, parse, read
from xla_lint.rules import all_rules
from xla_lint.rules.base import Rule

FIXTURES = Path(__file__).parent / "fixtures"
EXPECTATION = re.compile(r"# expect: ([a-z0-9, -]+)$")
EVERY_RULE = pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.symbol)

Labels = set[tuple[int, str]]


def expected(text: str) -> Labels:
    return {
        (number, symbol.strip())
        for number, line in enumerate(text.splitlines(), 1)
        if (match := EXPECTATION.search(line))
        for symbol in match[1].split(",")
    }


def found(text: str, path: Path) -> Labels:
    symbols = default_symbols() | {path.parent.name}
    findings = check_module(parse(text, path), Project(), Settings(), symbols)
    return {(int(finding.node.lineno or 0), finding.rule.symbol) for finding in findings}


def told(labels: Labels) -> str:
    return ", ".join(f"{symbol} on line {line}" for line, symbol in sorted(labels)) or "nothing"


@pytest.mark.parametrize(
    "path", sorted(FIXTURES.glob("*/*.py")), ids=lambda path: path.relative_to(FIXTURES).with_suffix("").as_posix()
)
def test_findings_are_those_expected(path: Path) -> None:
    text = decode(read(path))
    wanted, got = expected(text), found(text, path)
    assert wanted == got, f"missing: {told(wanted - got)}; extra: {told(got - wanted)}"


@EVERY_RULE
def test_rule_has_bad_and_good_fixtures(rule: type[Rule]) -> None:
    names = {path.name.partition("_")[0] for path in (FIXTURES / rule.symbol).glob("*.py")}
    assert names == {"bad", "good"}


@EVERY_RULE
def test_bad_fixtures_expect_their_own_symbol(rule: type[Rule]) -> None:
    for path in (FIXTURES / rule.symbol).glob("*.py"):
        symbols = {symbol for _, symbol in expected(decode(read(path)))}
        assert (rule.symbol in symbols) is path.name.startswith("bad_"), path.name


def test_every_folder_belongs_to_a_rule() -> None:
    assert {path.name for path in FIXTURES.iterdir()} == {rule.symbol for rule in all_rules()}
