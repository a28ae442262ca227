"""`xla-lint run --check` on real runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.runtime.running import run

if TYPE_CHECKING:
    from pathlib import Path


def test_a_program_is_held_against_its_budget(tmp_path: Path) -> None:
    budget = str(tmp_path / "budget.toml")
    assert run(tmp_path, "train(8)", "--check", budget, "--update").status == 0
    assert run(tmp_path, "train(8)", "--check", budget).status == 0
    dearer = run(tmp_path, "train(8)\nfor _ in range(9): weight.sum().item()", "--check", budget)
    assert dearer.status == 3
    assert any("read 1.125 times a step at train.py:" in each for each in dearer.report["broken"])
