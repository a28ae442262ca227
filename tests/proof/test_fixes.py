"""On the real torch_xla, what a fix has changed gives the same results, and costs less where its rule is about a cost.

`python -m tests.proof.test_fixes` prints what each pair costs.
"""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.proof.measure import DEVICE, FEW, MANY, TIME_LIMIT, Figures, compare
from tests.proof.probe import observe
from xla_lint.rules import rule_named

if TYPE_CHECKING:
    from collections.abc import Sequence

FIXED = Path(__file__).parents[1] / "fixed"
Outcome = tuple[Figures, object]

SAVES = {
    "xla-value-read": ("executions",),
    "xla-print-tensor": ("executions",),
    "xla-ragged-batch": ("run_compiles",),
    "xla-dynamic-padding": ("run_compiles",),
    "xla-incomplete-padding": ("run_compiles",),
    "xla-data-dependent-shape": ("compiles", "executions", "reads"),
    "xla-graph-growth": ("history_growth",),
    "xla-torch-save": ("reads",),
}
"""The figures that each rule's fixes lower, in each of its pairs."""
MENDS = {"xla-stale-optimizer": ("updates",), "xla-foreign-autocast": ("lowered",)}
"""The figures that a fix raises: what the program is for was not done before."""
UNLIKE = {
    "xla-ragged-batch": "the rows of the last batch are left out",
    "xla-incomplete-padding": "long texts are cut off",
    "xla-stale-optimizer": "the model is trained",
    "xla-foreign-autocast": "products are computed in bfloat16",
    "xla-accelerate-backward": "gradients are means over the micro-batches",
}
"""The rules whose fixes change results, and how. All of them are unsafe."""


def runnable() -> list[Path]:
    """The programs before their fixes that have a `main` to call."""
    return sorted(path for path in FIXED.glob("*/*_before.py") if "\ndef main(steps" in path.read_text("utf-8"))


def twin(before: Path) -> Path:
    return before.with_name(before.name.replace("_before", "_after"))


def measure(programs: Sequence[Path]) -> dict[Path, Outcome]:
    """What each program costs, and what it gives after the longer run."""
    os.environ["PJRT_DEVICE"] = DEVICE
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["tests.proof.probe"])
    with processes.Pool(maxtasksperchild=1) as pool:
        runs = [(path, steps) for path in programs for steps in (FEW, MANY)]
        seen = pool.starmap_async(observe, runs, chunksize=1).get(TIME_LIMIT)
    pairs = zip(seen[::2], seen[1::2], strict=True)
    return {path: (compare(few[0], many[0]), many[1]) for path, (few, many) in zip(programs, pairs, strict=True)}


@pytest.fixture(scope="module")
def outcomes() -> dict[Path, Outcome]:
    return measure([path for before in runnable() for path in (before, twin(before))])


each = pytest.mark.parametrize("before", runnable(), ids=lambda path: f"{path.parent.name}/{path.stem[:-7]}")


def test_a_fix_that_changes_results_is_unsafe() -> None:
    assert all(not fix.safe for symbol in UNLIKE for fix in rule_named(symbol).fixes)


@each
def test_results_are_the_same(before: Path, outcomes: dict[Path, Outcome]) -> None:
    old, new = outcomes[before][1], outcomes[twin(before)][1]
    assert old is not None
    if before.parent.name in UNLIKE:
        assert old != new
    else:
        assert new == pytest.approx(old, rel=1e-5)


@each
def test_the_cost_is_gone(before: Path, outcomes: dict[Path, Outcome]) -> None:
    old, new = outcomes[before][0], outcomes[twin(before)][0]
    symbol = before.parent.name
    for name in SAVES.get(symbol, ()):
        assert new[name] < old[name], name
    for name in MENDS.get(symbol, ()):
        assert new[name] > old[name], name
    dearer = {
        name for name in ("run_compiles", "executions", "graph_growth", "history_growth") if new[name] > old[name]
    }
    assert dearer <= set(MENDS.get(symbol, ()))


if __name__ == "__main__":
    found = measure([path for before in runnable() for path in (before, twin(before))])
    for path, (figures, _) in found.items():
        print(f"{path.parent.name}/{path.stem}: {figures}")
