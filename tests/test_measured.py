"""What a rule says its bad fixtures cost agrees with the figures that were measured."""

from __future__ import annotations

import pytest

from xla_lint.pages import measured
from xla_lint.rules import all_rules
from xla_lint.rules.base import Counter, Rule

FIGURES = {Counter.COMPILES: "run_compiles", Counter.EXECUTIONS: "executions", Counter.READS: "reads"}
"""Executions and reads are compared per step, compiles over a whole run: some come once only."""
CLAIMS = [(rule, counter) for rule in all_rules() for counter in rule.costs]


@pytest.mark.parametrize(
    ("rule", "counter"), CLAIMS, ids=[f"{rule.symbol}-{counter.value}" for rule, counter in CLAIMS]
)
def test_bad_fixtures_cost_more_than_good_ones(rule: type[Rule], counter: Counter) -> None:
    figures = measured(rule)
    bad = [row[FIGURES[counter]] for name, row in figures.items() if name.startswith("bad_")]
    good = [row[FIGURES[counter]] for name, row in figures.items() if name.startswith("good_")]
    assert min(bad) > max(good), figures
