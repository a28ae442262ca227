# The loss of each step is read before the barrier.

import torch
import torch_xla
from torch import nn


def main(steps):
    torch.manual_seed(0)
    device = torch_xla.device()
    model = nn.Linear(6, 3).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    running, history = 0.0, []
    for step in range(steps):
        x = torch.randn(4, 6).to(device)
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        torch_xla.sync()  # the step ends here
        # the mean of the epoch
        value = loss.item()
        running += value
        history.append(value)
    return [running, *history]
