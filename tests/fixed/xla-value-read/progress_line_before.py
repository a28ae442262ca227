# Values are read for a line of text, with a loader that ends the steps.

import torch
import torch_xla.distributed.parallel_loader as pl
import torch_xla
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

LINES = []


class Log:
    def info(self, text, *values):
        LINES.append(text % values)


def main(steps):
    torch.manual_seed(0)
    device = torch_xla.device()
    log = Log()
    loader = pl.MpDeviceLoader(DataLoader(TensorDataset(torch.randn(4 * steps, 6)), batch_size=4, drop_last=True), device)
    model = nn.Linear(6, 3).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step, (x,) in enumerate(loader):
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        log.info("%d %.4f %g", step, loss.item(), optimizer.param_groups[0]["lr"])
    return [float(line.split()[1]) for line in LINES]
