"""Models of torchvision and timm."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "models": """
        import timm, torchvision
        net = torchvision.models.resnet18()
        probe.value(net)  # is: some model models
        probe.value(torchvision.models.list_models())  # is: unknown
        probe.value(timm.create_model("vit").to(device))  # is: device model models
        net.to(device)
        probe.value(net(t))  # is: device output
        probe.value(net.forward_features(t))  # is: device output
        probe.value(net.get_classifier())  # is: unknown
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
