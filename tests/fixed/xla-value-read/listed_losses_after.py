# The values of each step go on lists, which are only seen behind the loop.

import torch
import torch_xla
from torch import nn


def main(steps):
    torch.manual_seed(0)
    device = torch_xla.device()
    model = nn.Linear(6, 3).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    losses, hits, highest = [], [], []
    for _ in range(steps):
        x, y = torch.randn(4, 6, device=device), torch.randint(0, 3, (4,), device=device)
        optimizer.zero_grad()
        logits = model(x)
        loss = nn.functional.cross_entropy(logits, y)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())  # for the curve
        hits.append((logits.argmax(1) == y).sum().detach())
        highest.append(logits.argmax().detach())
        torch_xla.sync()
    losses[:] = [float(value) for value in losses]
    hits[:] = [int(value) for value in hits]
    highest[:] = [value.item() for value in highest]
    return [sum(losses), sum(hits), *highest]
