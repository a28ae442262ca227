# The names of releases before 2.8, imported in the everyday ways.

import torch
import torch_xla.core.xla_model as xm  # the device
from torch import nn
from torch_xla.core.xla_model import (
    mark_step,
    xla_device as get_device,
)


def main(steps):
    torch.manual_seed(0)
    device = xm.xla_device()
    model = nn.Linear(6, 3).to(get_device())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for number in range(steps):
        optimizer.zero_grad()
        loss = model(torch.ones(4, 6, device=device)).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
        if number % 2:
            xm.mark_step(wait=True)  # slow, but sure
        else:
            mark_step()
    return torch.stack(losses).tolist()
