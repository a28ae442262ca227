# A meter is given the loss of each step, and only seen behind the loop.

import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.parallel_loader as pl
from torch import nn


class AverageMeter:
    def __init__(self):
        self.sum, self.count = 0.0, 0

    def update(self, value, n):
        self.sum += value * n
        self.count += n


def main(steps):
    torch.manual_seed(0)
    device = torch_xla.device()
    model = nn.Linear(6, 3).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    loader = [(torch.randn(4, 6), torch.randint(0, 3, (4,))) for _ in range(steps)]
    meter = AverageMeter()
    for x, y in pl.MpDeviceLoader(loader, device):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        xm.optimizer_step(optimizer)
        meter.update(loss.item(), x.size(0))
    return [meter.sum / meter.count]
