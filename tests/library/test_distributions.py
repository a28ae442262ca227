"""Distributions live where their parameters do."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "draws and divergences": """
        from torch.distributions import Normal, kl_divergence
        here, there = Normal(t, 1.0), Normal(h, 1.0)
        probe.value(here.sample())  # is: device tensor
        probe.value(here.log_prob(h))  # is: device tensor
        probe.value(here.mean)  # is: device tensor
        probe.value(there.sample())  # is: host tensor
        probe.value(kl_divergence(here, here))  # is: device tensor
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
