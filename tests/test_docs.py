"""The guides say what is true of the code."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from xla_lint.plugin import XlaChecker
from xla_lint.rules import all_rules
from xla_lint.rules.base import Severity

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
GUIDES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
USAGE = (ROOT / "docs" / "usage.md").read_text(encoding="utf-8")


def test_the_readme_shows_the_command_that_ci_runs() -> None:
    last = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-1]
    assert "tox run" in last
    assert last in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()


def test_the_line_that_leaves_advice_off_names_every_advice() -> None:
    (line,) = [line for line in USAGE.splitlines() if "--enable=xla-lint --disable=" in line]
    symbols = line.partition("--enable=xla-lint --disable=")[2].split()[0].split(",")
    assert symbols == [rule.symbol for rule in all_rules() if rule.severity is Severity.ADVICE]


def test_every_option_is_documented() -> None:
    rows = re.findall(r"^\| `(xla-[a-z-]+)` \|", USAGE, re.MULTILINE)
    assert sorted(rows) == sorted(name for name, _ in XlaChecker.options)


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.name)
def test_links_lead_somewhere(guide: Path) -> None:
    text = guide.read_text(encoding="utf-8")
    targets = [target for target in re.findall(r"\]\(([^)#]+)", text) if "://" not in target]
    assert [target for target in targets if not (guide.parent / target).exists()] == []


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.name)
def test_symbols_in_the_guides_exist(guide: Path) -> None:
    known = {rule.symbol for rule in all_rules()} | {name for name, _ in XlaChecker.options}
    named = set(re.findall(r"(?<![\w./-])xla-[a-z]+-[a-z-]+", guide.read_text(encoding="utf-8")))
    assert named - known <= {"xla-some-symbol", "xla-wait-in-step", "xla-lint-change"}


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.name)
def test_what_the_guides_install_is_there(guide: Path) -> None:
    text = guide.read_text(encoding="utf-8")
    targets = set(re.findall(r"pip install (?:--?\S+ )*['\"]?([^\s'\"`]+)", text))
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    own = {"xla-lint", ".", *(f"{name}[{extra}]" for name in ("xla-lint", ".") for extra in extras)}
    assert {target for target in targets if not target.startswith("./")} <= own | {"tox", "nbqa"}
