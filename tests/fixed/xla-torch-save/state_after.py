# Checkpoints are written from the device.

import io

import torch
import torch_xla
import torch_xla.core.xla_model as xm
from torch import nn


def checkpoint(model, optimizer):
    file = io.BytesIO()
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    xm.save(state, file_or_path=file)
    file.seek(0)
    return torch.load(file, map_location="cpu")["model"]


def main(steps):
    torch.manual_seed(0)
    device = torch_xla.device()
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(steps):
        x = torch.randn(4, 8).to(device)
        optimizer.zero_grad()
        (model(x) - x.mean(dim=1, keepdim=True)).square().mean().backward()
        optimizer.step()
        torch_xla.sync()
        saved = checkpoint(model, optimizer)
    return [value.sum().item() for value in saved.values()]
