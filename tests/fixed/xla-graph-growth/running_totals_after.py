# Totals are kept for the report.

import torch
import torch_xla
from torch import nn


def main(steps):
    torch.manual_seed(0)
    device = torch_xla.device()
    model = nn.Linear(6, 3).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    total = torch.zeros((), device=device)
    doubled = torch.zeros((), device=device)
    for step in range(steps):
        x = torch.randn(4, 6).to(device)
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        total += loss.detach()  # for the report
        doubled = doubled + (2 * loss).detach()
        torch_xla.sync()
    return [total.item(), doubled.item()]
