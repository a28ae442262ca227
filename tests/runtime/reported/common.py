"""What the cases share: a device, a small model, and the raw counters of torch_xla around each case."""

import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.debug.metrics as met
from torch import nn

torch.manual_seed(0)
device = torch_xla.device()


def total(name):
    return (met.metric_data(name) or [0])[0]


def counters():
    xm.wait_device_ops()
    while total("ExecuteTime") < (met.counter_value("ExecuteComputation") or 0):
        pass
    return total("CompileTime"), total("ExecuteTime"), total("TransferFromDeviceTime")


def case(function):
    before = counters()
    function()
    torch_xla.sync()
    after = counters()
    print(function.__name__, *(b - a for a, b in zip(before, after)), flush=True)


def setup(*sizes, optimizer=torch.optim.SGD):
    layers = [m for a, b in zip(sizes, sizes[1:]) for m in (nn.Linear(a, b), nn.ReLU())][:-1]
    net = nn.Sequential(*layers).to(device)
    return net, optimizer(net.parameters(), lr=0.1)
