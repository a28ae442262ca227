"""A regression in four phases, each of which cuts its graph in the wrong place or not at all."""

import torch
import torch_xla
import torch_xla.core.xla_model as xm
from torch import nn

WIDTH, BATCH = 16, 32


def build(device):
    layers = [nn.Linear(WIDTH, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1)]
    return nn.Sequential(*layers).to(device)


def batches(count, device):
    """Batches made on the device, so no loader brings a barrier along."""
    for _ in range(count):
        inputs = torch.randn(BATCH, WIDTH, device=device)
        yield inputs, inputs.sum(1, keepdim=True)


def loss_of(model, inputs, targets):
    return (model(inputs) - targets).square().mean()


def warm_up(model, optimizer, device):
    # No barrier on any path: all steps become one graph, compiled at the first read after the loop.
    for inputs, targets in batches(5, device):
        optimizer.zero_grad()
        loss_of(model, inputs, targets).backward()
        optimizer.step()


def train_in_halves(model, optimizer, device):
    # Two graphs a step where one would do: the gradients go through memory in between.
    for inputs, targets in batches(5, device):
        optimizer.zero_grad()
        loss_of(model, inputs, targets).backward()
        torch_xla.sync()
        optimizer.step()
        torch_xla.sync()


def train_accumulating(model, optimizer, device, every=4):
    # The only barrier stands under a condition: `every` micro-steps are compiled as one graph.
    optimizer.zero_grad()
    for step, (inputs, targets) in enumerate(batches(8, device)):
        loss = loss_of(model, inputs, targets) / every
        loss.backward()
        if (step + 1) % every == 0:
            optimizer.step()
            optimizer.zero_grad()
            torch_xla.sync()


def train_with_totals(model, optimizer, device):
    total = torch.zeros((), device=device)
    for inputs, targets in batches(5, device):
        optimizer.zero_grad()
        loss = loss_of(model, inputs, targets)
        loss.backward()
        optimizer.step()
        # The total keeps the autograd history of every loss that went into it.
        total += loss
        # Each call cuts the graph, reads the tensor, and meets all replicas.
        xm.mesh_reduce("loss", loss, sum)
        torch_xla.sync()
    return total


def main():
    torch.manual_seed(0)
    device = torch_xla.device()
    model = build(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    warm_up(model, optimizer, device)
    torch_xla.sync()
    train_in_halves(model, optimizer, device)
    train_accumulating(model, optimizer, device)
    print(f"summed loss {train_with_totals(model, optimizer, device).item():.4f}")


if __name__ == "__main__":
    main()
