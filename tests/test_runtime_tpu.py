"""What a report and its limits make of recorded processes on TorchTPU."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from xla_lint.runtime import table, tpu_cache
from xla_lint.runtime.budget import BudgetFile
from xla_lint.runtime.collect import Collector, Recording
from xla_lint.runtime.findings import Linted
from xla_lint.runtime.gate import Limits, broken
from xla_lint.runtime.summary import Summary, summarise
from xla_lint.runtime.tpu_cache import Executables, Lookups
from xla_lint.runtime.tpu_use import CacheUse, read, use_of, write

USE = CacheUse(
    7,
    "train.py",
    complete=True,
    lookups=Lookups(20, 14),
    executables=Executables(6, 2, 1, 2.5),
    steps=9,
    step_file="train.py",
    step_line=4,
    warm_steps=6,
    warm_compiles=3,
    late={"step 5": 1, "step 8": 2},
)


def summary(*uses: CacheUse) -> Summary:
    return summarise(Recording(tpu=list(uses)), Linted(), command="train.py", ended="ended well", warmup=3)


def test_written_and_read(tmp_path: Path) -> None:
    write(USE, tmp_path)
    assert read(tmp_path) == USE
    assert read(tmp_path / "none") is None
    assert use_of(json.loads(json.dumps(asdict(USE)))) == USE


def test_the_collector_tells_the_backends_apart(tmp_path: Path) -> None:
    for pid, use in ((7, USE), (8, replace(USE, pid=8, lookups=Lookups()))):
        write(use, tmp_path / str(pid))
    (tmp_path / "9").mkdir()
    recording = Collector(tmp_path).recording(ended=True)
    assert (recording.tpu, recording.tpu_idle, recording.idle) == ([USE], 1, 1)


def test_what_is_not_known_is_no_number() -> None:
    data = json.loads(json.dumps(summary(USE).as_json()))
    assert (data["totals"]["compiles"], data["totals"]["reads"], data["totals"]["executions"]) == (6, None, None)
    assert Summary.from_json(data) == summary(USE)
    assert "0 reads" not in table.headline(summary(USE))
    remarks = list(table.remarks(summary(USE)))
    assert "process 7, once warm, compiled in step 8 (2), step 5 (1); a step ends with" in remarks[1]
    assert remarks[2:] == [tpu_cache.UNKNOWN, tpu_cache.UNTRIED]


def test_reports_from_before_are_read() -> None:
    data = summary().as_json()
    del data["tpu"]
    assert Summary.from_json(data) == summary()
    assert data["totals"]["reads"] == 0


@pytest.mark.parametrize(
    ("limits", "use", "words"),
    [
        (Limits(compiles=3), USE, ""),
        (Limits(compiles=2), USE, "process 7 compiled 3 graphs after 3 steps, 2 allowed: step 8 (2), step 5 (1)"),
        (Limits(compiles=9), replace(USE, steps=2, warm_steps=0), "the program never became warm, with 2 steps"),
        (Limits(compiles=2), replace(USE, steps=0, warm_steps=0, late={}), "process 7 compiled 3 graphs, 2 allowed"),
        (Limits(reads_per_step=9), USE, "reads are not known on torch.tpu"),
        (Limits(executions_per_step=9, fallbacks=False), USE, "executions and fallbacks are not known on torch.tpu"),
    ],
)
def test_limits(limits: Limits, use: CacheUse, words: str) -> None:
    said = broken(limits.checks(summary(use)))
    assert len(said) == bool(words)
    assert all(sentence.startswith(words) for sentence in said)


def test_no_budget_beside_the_program_is_said_to_hold(tmp_path: Path) -> None:
    (said,) = BudgetFile(tmp_path / "budget.toml").steady(summary(USE)).broken
    assert said.startswith("a budget holds executions and reads, which torch.tpu does not tell")


def test_another_vendors_package_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch.tpu", raising=False)
    monkeypatch.setitem(sys.modules, "torch_tpu", tpu_cache)
    assert not tpu_cache.there()
    assert not tpu_cache.chosen()
