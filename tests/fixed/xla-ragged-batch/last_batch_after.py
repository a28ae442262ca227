# The last batch of 28 rows is smaller than the others.

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch_xla.distributed.parallel_loader import MpDeviceLoader


def main(steps):
    torch.manual_seed(0)
    device = torch_xla.device()
    rows = TensorDataset(torch.randn(28, 6), torch.randint(0, 2, (28,)))
    host = DataLoader(
        rows,
        batch_size=8,
        shuffle=True,  # anew in each epoch
        drop_last=True,
    )
    loader = MpDeviceLoader(host, device)
    model = nn.Linear(6, 2).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    losses = []
    for _ in range(steps // 4):
        for x, kind in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), kind)
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
    return torch.stack(losses).tolist()
