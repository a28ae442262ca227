# The names of releases before 2.8, imported in the everyday ways.

import torch
import torch_xla  # the device
from torch import nn
from torch_xla import device as get_device


def main(steps):
    torch.manual_seed(0)
    device = torch_xla.device()
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
            torch_xla.sync(wait=True)  # slow, but sure
        else:
            torch_xla.sync()
    return torch.stack(losses).tolist()
