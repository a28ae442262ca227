"""Parameters, their initialisation and their gradients."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "parameters": """
        probe.value(nn.Parameter(t))  # is: device tensor of 3
        probe.value(nn.Parameter())  # is: some tensor
        probe.value(nn.init.zeros_(t))  # is: device tensor of 3
    """,
    "gradients": """
        for x in loader:
            update(x)
            norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            probe.value(norm)  # is: device tensor
            print(norm.item())  # expect: xla-value-read
            nn.utils.clip_grad_value_(model.parameters(), 1.0)
        probe.value(nn.utils.clip_grad_norm_(probe.other(), 1.0))  # is: some tensor
    """,
    "sequences": """
        from torch.nn.utils.rnn import pad_sequence
        probe.value(pad_sequence([t, t]))  # is: device tensor
        probe.value(pad_sequence(probe.other()))  # is: some tensor
        probe.value(nn.utils.parametrizations.weight_norm(model))  # is: device model Sequential
        probe.value(nn.utils.parameters_to_vector(model.parameters()))  # is: unknown
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
