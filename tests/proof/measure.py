"""Run every fixture that can run on the real torch_xla, and write what each costs to the knowledge table.

`python -m tests.proof.measure` from the project's root; needs torch and torch_xla.
"""

from __future__ import annotations

import importlib.metadata
import json
import multiprocessing
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.proof.probe import Counts, count

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "tests" / "fixtures"
TABLE = ROOT / "xla_lint" / "knowledge" / "measured.json"
DEVICE = "CPU"
FEW, MANY = 8, 16
"""The steps of the two runs that are compared. What both have in common, such as the first compile, drops out."""
TIME_LIMIT = 1800
"""Seconds for all runs together."""

Figures = dict[str, float]


def runnable() -> list[Path]:
    """The fixtures with a `main` to call; the others need packages that no test installs."""
    return sorted(path for path in FIXTURES.glob("*/*.py") if "\ndef main(steps" in path.read_text(encoding="utf-8"))


def measure(fixtures: list[Path]) -> dict[Path, Figures]:
    """What each fixture costs. Every run has a process of its own.

    Raises:
        multiprocessing.TimeoutError: the runs take too long, or one of them died.
    """
    os.environ["PJRT_DEVICE"] = DEVICE
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["tests.proof.probe"])
    with processes.Pool(maxtasksperchild=1) as pool:
        runs = [(path, steps) for path in fixtures for steps in (FEW, MANY)]
        counts = pool.starmap_async(count, runs, chunksize=1).get(TIME_LIMIT)
    return {path: compare(*counts[2 * i : 2 * i + 2]) for i, path in enumerate(fixtures)}


def compare(few: Counts, many: Counts) -> Figures:
    """The figures of a fixture from the counts of its two runs.

    `graph_growth` and `history_growth` are the nodes that each step adds to the largest graph and to the autograd
    history, `run_compiles` and `graph` those of the long run as a whole; all others are per step.
    """
    short, long = asdict(few), asdict(many)
    slopes = {name: (long[name] - short[name]) / (MANY - FEW) for name in long}
    slopes["graph_growth"] = slopes.pop("graph")
    slopes["history_growth"] = slopes.pop("history")
    figures = {**slopes, "run_compiles": many.compiles, "graph": many.graph}
    return {name: int(value) if value == int(value) else round(value, 4) for name, value in figures.items()}


def environment() -> dict[str, str]:
    """What the figures hold for."""
    return {name: importlib.metadata.version(name) for name in ("torch", "torch_xla")} | {"device": DEVICE}


def stored() -> dict[str, dict[str, Any]]:
    """The table as it is: symbol, fixture, figures; and `environment`."""
    table: dict[str, dict[str, Any]] = json.loads(TABLE.read_text(encoding="utf-8"))
    return table


def write() -> None:
    """Measure, and write the table anew."""
    table: dict[str, object] = {"environment": environment()}
    for path, figures in measure(runnable()).items():
        rule = table.setdefault(path.parent.name, {})
        assert isinstance(rule, dict)
        rule[path.stem] = figures
    TABLE.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
