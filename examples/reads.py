"""A digit classifier that asks the device for values in every step.

Each question makes the host wait, and most of them run the step's graph a second time.
"""

import argparse
import logging

import torch
import torch.nn.functional as F
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.parallel_loader as pl
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

log = logging.getLogger("digits")
log.setLevel(logging.INFO)


class DigitNet(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, stride=2)
        self.head = nn.Sequential(nn.Linear(4 * 6 * 6, width), nn.ReLU(), nn.Linear(width, 10))

    def forward(self, images):
        features = F.relu(self.conv(images))
        return self.head(features.flatten(1))


def digits(count, batch_size, device):
    rows = TensorDataset(torch.randn(count, 1, 14, 14), torch.randint(0, 10, (count,)))
    return pl.MpDeviceLoader(DataLoader(rows, batch_size=batch_size, shuffle=True, drop_last=True), device)


def train(model, loader, optimizer):
    running, previous = 0.0, None
    for step, (images, labels) in enumerate(loader):
        if previous is not None:
            # The loader's next() has just executed the graph of this loss: no second run, but the host waits.
            log.info("previous loss %.3f", previous.item())
        optimizer.zero_grad()
        logits = model(images)
        loss = F.cross_entropy(logits, labels)
        if torch.isnan(loss):
            raise RuntimeError("the loss is not a number")
        loss.backward()
        optimizer.step()
        previous = loss.detach()
        # The graph so far runs here, is thrown away, and runs again at the next barrier.
        running += loss.item()
        accuracy = (logits.argmax(1) == labels).float().mean()
        print(f"step {step}: accuracy {accuracy}")
        # A closure runs after the barrier, but its argument is read before.
        xm.add_step_closure(log.info, args=("loss %.3f", loss.item()))
        if step % 4 == 0:
            print("largest logit", logits.max().item())
    return running / len(loader)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--batch-size", type=int, default=16)
    options = parser.parse_args()
    device = torch_xla.device()
    model = DigitNet().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    loader = digits(96, options.batch_size, device)
    for epoch in range(options.epochs):
        print(f"epoch {epoch}: mean loss {train(model, loader, optimizer):.4f}")


if __name__ == "__main__":
    main()
