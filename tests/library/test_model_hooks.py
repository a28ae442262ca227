"""Functions that run whenever a model does."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "a hook of a model on the device": """
        def hook(module, inputs, output):
            probe.value(output)  # is: device output
        model.register_forward_hook(hook)
    """,
    "a hook that waits for the move": """
        def hook(module, inputs):
            probe.value(module)  # is: device model Linear
        layer = nn.Linear(2, 2)
        layer.register_forward_pre_hook(hook)
        layer.to(device)
    """,
    "a hook that reads in every step": """
        def hook(module, inputs, output):
            print(output.mean())  # expect: xla-print-tensor
        model.register_forward_hook(hook)
        for x in loader:
            update(x)
    """,
    "a hook of an unknown model, and one that is no function of the project": """
        def hook(module, inputs, output):
            probe.value(output)  # is: unknown
        probe.model().register_forward_hook(hook)
        model.register_forward_hook(print)
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
