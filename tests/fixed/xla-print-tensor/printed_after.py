# The loss is printed in every step.

import contextlib
import io

import torch
import torch_xla
import torch_xla.core.xla_model as xm
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
        xm.add_step_closure(lambda step, loss: print(f"{step}: {loss:.4f}", flush=True), args=(step, loss))
        xm.add_step_closure(print, args=(loss,))
        torch_xla.sync()


def main(steps):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        train(steps)
    return [float(line.split()[1]) for line in text.getvalue().splitlines() if ": " in line]
