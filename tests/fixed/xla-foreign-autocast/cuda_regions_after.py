# A model ported from CUDA, with its autocast.

import torch
import torch_xla
from torch import nn


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(8, 32)
        self.head = nn.Linear(32, 1)

    def forward(self, x):
        with torch.autocast("xla", dtype=torch.bfloat16):
            return self.head(torch.relu(self.hidden(x)))


def main(steps):
    torch.manual_seed(0)
    device = torch_xla.device()
    model = Scorer().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        with torch.autocast(enabled=True, device_type="xla", dtype=torch.bfloat16):
            loss = model(torch.randn(4, 8).to(device)).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach().float())
        torch_xla.sync()
    return torch.stack(losses).tolist()
