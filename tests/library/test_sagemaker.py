"""SageMaker's Python SDK."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "the Training Compiler's configuration": """
        from sagemaker.huggingface import TrainingCompilerConfig
        probe.value(TrainingCompilerConfig(enabled=True))  # is: TrainingCompilerConfig
        probe.value(TrainingCompilerConfig(enabled=True).enabled)  # is: True
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
