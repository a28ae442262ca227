import torch
import torch_xla
from meters import Mean, Worst


def fit(forecaster, optimizer, device, steps):
    mean, worst = Mean(), Worst()
    for _ in range(steps):
        window = torch.randn(5, 4, 6, device=device)
        optimizer.zero_grad()
        error = (forecaster(window[:-1]) - window[-1]).abs()
        error.mean().backward()
        optimizer.step()
        mean.update(error.mean(), n=4)
        worst.update(error.max())
        torch_xla.sync()
    return mean.value, worst.value
