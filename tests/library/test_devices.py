"""How programs name the device."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "devices by name": """
        probe.value(torch.device("xla"))  # is: device named
        probe.value(torch.device("xla", 0))  # is: device named
        probe.value(torch.device("cpu"))  # is: host named
        other = torch.device("cuda:0")  # expect: xla-cuda-leftover
        probe.value(other)  # is: some named
        probe.value(torch.device(probe.other()))  # is: some named
        probe.value(torch.zeros(2, device=device if probe.other() else "cpu"))  # is: device tensor of 2
        probe.value(torch.zeros(2, device=t.device))  # is: device tensor of 2
        probe.value(torch.zeros(2, device=3))  # is: host tensor of 2
        probe.value(torch.zeros(2, device=None))  # is: host tensor of 2
        probe.value(torch.zeros(2, device=""))  # is: some tensor of 2
    """,
    "where things are made": """
        with torch.device("xla"):
            probe.value(torch.zeros(2))  # is: device tensor of 2
            with torch.device("cpu"):
                probe.value(torch.zeros(2))  # is: host tensor of 2
        probe.value(torch.zeros(2))  # is: host tensor of 2
        with probe.one() if probe.other() else None:
            probe.value(torch.zeros(2))  # is: host tensor of 2
        torch.set_default_device(device)
        probe.value(torch.zeros(2))  # is: device tensor of 2
        torch.set_default_device("cpu")
        probe.value(torch.zeros(2))  # is: host tensor of 2
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
