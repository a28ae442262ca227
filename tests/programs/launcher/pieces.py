import torch
import torch_xla.core.xla_model as xm
from torch import nn


def build():
    model = nn.Linear(4, 4)
    return model, torch.optim.Adam(model.parameters())  # expect: xla-stale-optimizer


def place(model, device):
    model.to(device)


def step(model, optimizer, device):
    optimizer.zero_grad()
    loss = model(torch.randn(8, 4, device=device)).square().mean()
    loss.backward()
    xm.optimizer_step(optimizer)
