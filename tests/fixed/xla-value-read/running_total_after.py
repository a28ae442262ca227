# Totals of what each step gives are read in every step, though only their ends are seen.

import torch
import torch_xla
import torch_xla.distributed.parallel_loader as pl
from torch import nn


def main(steps):
    torch.manual_seed(0)
    device = torch_xla.device()
    model = nn.Linear(6, 3).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    loader = [(torch.randn(4, 6), torch.randint(0, 3, (4,))) for _ in range(steps)]
    total, correct = 0.0, 0
    for x, y in pl.MpDeviceLoader(loader, device):
        optimizer.zero_grad()
        logits = model(x)
        loss = nn.functional.cross_entropy(logits, y)
        loss.backward()
        optimizer.step()
        total += loss.detach().float() * x.size(0)  # weighted
        correct += (logits.argmax(1) == y).sum()
    total = float(total)
    correct = int(correct)
    return [total / steps, correct]
