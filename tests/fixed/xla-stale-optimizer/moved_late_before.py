# The optimizer is built before the model has moved.

import torch
import torch_xla
from torch import nn


def main(steps):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
    # Adam needs no schedule here.
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    device = torch_xla.device()
    # The model moves.
    model.to(device)
    losses = []
    for _ in range(steps):
        x = torch.randn(4, 8).to(device)
        optimizer.zero_grad()
        loss = (model(x) - x.mean(dim=1, keepdim=True)).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
        torch_xla.sync()
    return torch.stack(losses).tolist()
