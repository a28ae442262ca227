# The loss is printed in every step.

import contextlib
import io

import torch
import torch_xla
from torch import nn


def train(steps):
    torch.manual_seed(0)
    device = torch_xla.device()
    model = nn.Linear(6, 3).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(steps):
        optimizer.zero_grad()
        loss = model(torch.randn(4, 6).to(device)).square().mean()
        loss.backward()
        optimizer.step()
        print(f"{step}: {loss:.4f}", flush=True)
        print(loss)
        torch_xla.sync()


def main(steps):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        train(steps)
    return [float(line.split()[1]) for line in text.getvalue().splitlines() if ": " in line]
