import torch
import torch_xla
import torch_xla.core.xla_model as xm
from torch.nn import functional


def train(ranker, optimizer, device, report, steps):
    for step in range(steps):
        better, worse = torch.randn(2, 16, 10, device=device)
        optimizer.zero_grad()
        loss = functional.softplus(-ranker(better, worse)).mean()
        loss.backward()
        xm.optimizer_step(optimizer)
        report.step(step, loss.detach())
        torch_xla.sync()
