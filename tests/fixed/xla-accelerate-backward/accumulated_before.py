# The gradients of four micro-batches add up, undivided.

import torch
import torch_xla
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main(steps):
    torch.manual_seed(0)
    accelerator = Accelerator(gradient_accumulation_steps=4)
    model = nn.Linear(6, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    rows = TensorDataset(torch.randn(8 * steps, 6), torch.randn(8 * steps, 1))
    loader = DataLoader(rows, batch_size=8, drop_last=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    losses = []
    for x, y in loader:
        with accelerator.accumulate(model):
            loss = nn.functional.mse_loss(model(x), y)
            (loss * 1.0).backward(retain_graph=False)  # of a micro-batch
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.detach())
        torch_xla.sync()
    return torch.stack(losses).tolist()
