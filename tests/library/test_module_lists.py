"""Containers of modules."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "what they hold": """
        layers = nn.ModuleList([nn.Linear(2, 2), nn.ReLU()])
        probe.value(layers[0])  # is: host model Linear
        for layer in layers:
            probe.value(layer)  # is: host model Module
        layers.append(nn.Tanh())
        probe.value(layers[2])  # is: host model Tanh
        layers.extend([nn.GELU()])
        probe.value(layers[3])  # is: host model GELU
        layers.insert(0, probe.other())
        only = nn.ModuleList(nn.ReLU() for _ in range(3))
        for layer in only:
            probe.value(layer)  # is: host model ReLU
        only.append(nn.Tanh())
        probe.value(only[0])  # is: host model ReLU
        probe.value(nn.Sequential(*probe.other()))  # is: host model Sequential
    """,
    "by name": """
        heads = nn.ModuleDict({"a": nn.Linear(2, 2)})
        for name in heads.keys():
            probe.value(name)  # is: text
        for head in heads.values():
            probe.value(head)  # is: host model Linear
        heads.to(device)
        for name, head in heads.items():
            probe.value(head)  # is: device model Linear
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
