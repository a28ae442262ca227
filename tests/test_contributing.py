"""The event that CONTRIBUTING shows, taken from its text: three places make it known."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.test_fixtures import expected
from xla_lint import engine, rules
from xla_lint.engine import Settings, check_module, rules_for
from xla_lint.program.domain import events
from xla_lint.program.library.registry import FUNCTIONS
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import parse

ROOT = Path(__file__).parent.parent


@pytest.fixture
def shown() -> list[str]:
    """The event, the handler, the rule and the program."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition("## Add an event in three places\n")[2].partition("\n## ")[0]
    blocks = [textwrap.dedent(block) for block in re.findall(r"```python\n(.*?)```", section, re.DOTALL)]
    assert len(blocks) == 4
    return blocks


@pytest.fixture
def _added(shown: list[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    event, handler, rule, _ = shown
    exec(event, vars(events))
    exec(handler, vars(ModuleType("xla_lint.program.library.speedometer")))
    module = ModuleType("xla_lint.rules.reads.wait_in_step")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(rule, vars(module))
    kinds = (*rules.all_rules(), module.WaitInStep)
    for place in (rules, engine):
        monkeypatch.setattr(place, "all_rules", lambda: kinds)
    forget()
    yield
    FUNCTIONS.remove("speedometer.wait")
    del vars(events)["IdleWait"]
    forget()


def forget() -> None:
    """Let the rules be asked anew what they subscribe to."""
    rules._subscribers.cache_clear()
    rules._interested.cache_clear()
    rules_for.cache_clear()


@pytest.mark.usefixtures("_added")
def test_it_is_found(shown: list[str]) -> None:
    found = check_module(parse(shown[3], "train.py"), Project(), Settings())
    assert {(int(f.node.lineno or 0), f.rule.symbol) for f in found} == expected(shown[3])


def test_without_it_nothing_is_found(shown: list[str]) -> None:
    assert not check_module(parse(shown[3], "train.py"), Project(), Settings())
    assert not any(rule.symbol == "xla-wait-in-step" for rule in rules.all_rules())
