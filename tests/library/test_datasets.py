"""Datasets of Hugging Face, and metrics."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "how many rows": """
        import datasets
        rows = datasets.load_dataset("rows")
        probe.value(len(rows.select(range(9))))  # is: 9
        probe.value(len(rows.select([1, 2])))  # is: 2
        probe.value(len(rows.select(probe.other())))  # is: number
        probe.value(len(rows.select(range(9)).shuffle().map(print)))  # is: 9
        probe.value(len(rows.select(range(9)).filter(print)))  # is: number
        probe.value(len(rows.select(range(9)).map(print, batched=True)))  # is: number
        probe.value(rows.push_to_hub("rows"))  # is: unknown
    """,
    "metrics": """
        import evaluate
        metric = evaluate.load("accuracy")
        probe.value(metric)  # is: load
        probe.value(metric.compute())  # is: {number..}
        metric.add_batch(predictions=h, references=h)
        for _ in range(9):
            metric.add_batch(predictions=model(t), references=h)  # expect: xla-value-read
            torch_xla.sync()
        class Mine(evaluate.Metric):
            pass
        probe.value(Mine())  # is: Metric
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
