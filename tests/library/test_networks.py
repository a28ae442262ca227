"""Modules of torch.nn, and any other model."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "where a model is": """
        layer = nn.Linear(2, 2)
        probe.value(layer)  # is: host model Linear
        probe.value(layer.to(device))  # is: device model Linear
        probe.value(layer.cpu())  # is: host model Linear
        probe.value(layer.to(torch.float32))  # is: host model Linear
        probe.value(nn.Linear(2, 2, device=device))  # is: device model Linear
        with torch.device("xla"):
            probe.value(nn.Linear(2, 2))  # is: device model Linear
        probe.value(nn.Linear(2, 2))  # is: host model Linear
        probe.value(nn.DataParallel(model))  # is: device model Sequential
        probe.value(nn.modules.other(3))  # is: unknown
    """,
    "what a model gives": """
        layer = nn.Linear(4, 4).to(device)
        probe.value(layer(t))  # is: device tensor of 3
        probe.value(layer.forward(t))  # is: device tensor of 3
        probe.value(nn.MSELoss()(t, t))  # is: device tensor
        probe.value(layer.half())  # is: device model Linear
        probe.value(layer.train().training)  # is: True fact
        probe.value(layer.eval().training)  # is: False fact
        probe.value(layer.train(False).training)  # is: False
        probe.value(nn.Linear(2, 2).training)  # is: number
        probe.value(layer.weight)  # is: device tensor
        probe.value(layer.zero_grad())  # is: None
        probe.value(layer.state_dict())  # is: {device tensor..}
        for name, parameter in layer.named_parameters():
            probe.value(parameter)  # is: device tensor
        for parameter in layer.parameters():
            probe.value(parameter)  # is: device tensor
    """,
    "modules inside": """
        for child in model.children():
            probe.value(child)  # is: device model Module
        for name, module in model.named_modules():
            probe.value(module)  # is: device model Module
        probe.value(model.get_submodule("0"))  # is: device model Module
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.add_module("head", nn.Linear(2, 2))
                self.register_buffer("mean", torch.ones(3))
                self.register_buffer(probe.other(), torch.ones(3))
        net = Net()
        probe.value(net.head)  # is: host model Linear
        probe.value(net.mean)  # is: host tensor of 3
        net.to(device)
        probe.value(net.head)  # is: device model Linear
        probe.value(net.mean)  # is: device tensor of 3
    """,
    "a function for every module": """
        def initialise(module):
            probe.value(module)  # is: host model ReLU
        probe.value(nn.ReLU().apply(initialise))  # is: host model ReLU
    """,
    "a model of which no more is known": """
        class Net(nn.Module):
            def forward(self, x):
                return probe.other(x)
        net = Net().to(device)
        probe.value(net(t))  # is: device output
        probe.value(net.device)  # is: device named
        probe.value(net.register_load_state_dict_pre_hook(print))  # is: unknown
        for part in net:
            probe.value(part)  # is: device model Module
    """,
    "modules of the project in a row": """
        class Double(nn.Module):
            def forward(self, x):
                probe.value(x)  # is: device tensor of 3
                return x * 2
        row = nn.Sequential(nn.Linear(4, 4), nn.Sequential(Double())).to(device)
        probe.value(row(t))  # is: device tensor of 3
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
