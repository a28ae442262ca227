"""Modes of torch."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "steps without gradients are none": """
        for x in [t, t]:
            with torch.no_grad():
                probe.value(model(x))  # is: device tensor of 3
        for x in [t, t]:
            with torch.inference_mode():
                model(x)
    """,
    "as decorators": """
        @torch.no_grad()
        def evaluate(x):
            return model(x)
        @torch.enable_grad()
        def train(x):
            return model(x)
        probe.value(torch.no_grad()(evaluate))  # is: function evaluate
        probe.value(torch.inference_mode()(train)(t))  # is: device tensor of 3
        probe.value(torch.no_grad()(3))  # is: unknown
    """,
    "modes that leave gradients alone": """
        for x in loader:
            with torch.enable_grad():
                loss = update(x)
            with torch.autograd.detect_anomaly():  # expect: xla-hidden-read
                loss.item()  # expect: xla-value-read
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
