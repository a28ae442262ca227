"""On the real torch_xla, bad fixtures cost what their rule says, and good ones do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.proof.claims import CLAIMS, GOOD
from tests.proof.measure import TABLE, Figures, environment, measure, runnable, stored


def each(kind: str) -> pytest.MarkDecorator:
    """One test for every fixture that can run and whose name begins so."""
    paths = [path for path in runnable() if path.stem.startswith(kind)]
    return pytest.mark.parametrize("fixture", paths, ids=[f"{path.parent.name}/{path.stem}" for path in paths])


@pytest.fixture(scope="module")
def figures() -> dict[Path, Figures]:
    return measure(runnable())


def test_every_runnable_fixture_has_a_claim() -> None:
    assert {path.parent.name for path in runnable()} == set(CLAIMS)


def test_the_stored_figures_hold_for_this_environment() -> None:
    assert stored()["environment"] == environment(), "run 'python -m tests.proof.measure'"


def test_no_stored_figure_is_left_over() -> None:
    names = {(symbol, name) for symbol, rule in stored().items() if symbol != "environment" for name in rule}
    assert names == {(path.parent.name, path.stem) for path in runnable()}


@each("")
def test_figures_are_those_stored(fixture: Path, figures: dict[Path, Figures]) -> None:
    assert figures[fixture] == stored()[fixture.parent.name][fixture.stem], f"measured now, stored in {TABLE.name}"


@pytest.mark.parametrize(("symbol", "figure"), [(symbol, name) for symbol, claim in CLAIMS.items() for name in claim])
def test_claim_holds(symbol: str, figure: str, figures: dict[Path, Figures]) -> None:
    of_rule = {path.stem: row[figure] for path, row in figures.items() if path.parent.name == symbol}
    bad = [value for name, value in of_rule.items() if name.startswith("bad_")]
    good = [value for name, value in of_rule.items() if name.startswith("good_")]
    relation = CLAIMS[symbol][figure]
    assert relation(bad, good), f"{figure} of {symbol}: {relation.__doc__} Measured: {of_rule}"


@each("good_")
def test_good_fixture_runs_one_graph_a_step(fixture: Path, figures: dict[Path, Figures]) -> None:
    assert {name: figures[fixture][name] for name in GOOD} == GOOD
