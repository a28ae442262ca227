# Values are written through masks: constants, and those of another tensor.

import torch
import torch_xla
from torch import nn


def main(steps):
    torch.manual_seed(0)
    device = torch_xla.device()
    model = nn.Linear(6, 6).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    losses = []
    for step in range(steps):
        x = torch.randn(20, 6).to(device)
        noise = torch.randn(20, 6).to(device)
        weights = torch.ones(20, 6, device=device)
        weights[x > 1.5] = 0.0  # outliers
        x[(x < -1) | x.isnan()] = -1.0
        x[x > 2] = noise[x > 2]
        optimizer.zero_grad()
        loss = ((model(x) - x).square() * weights).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
        torch_xla.sync()
    return torch.stack(losses).tolist()
