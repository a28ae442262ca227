"""Functions for a compiler to trace, apart from the tests, whose assertions pytest rewrites."""

from __future__ import annotations

import time

import torch
from torch import nn

layer = nn.Linear(4, 4)


def prints(x: torch.Tensor) -> torch.Tensor:
    """What prints a constant."""
    y = x + 1
    print("seen")
    return y * 2


def clocks(x: torch.Tensor) -> torch.Tensor:
    """What asks for the time."""
    y = x + 1
    time.time()
    return y * 2


def reads(x: torch.Tensor) -> torch.Tensor:
    """What fetches a value."""
    y = x + 1
    return y * y.sum().item()


def branches(x: torch.Tensor) -> torch.Tensor:
    """What tests a value."""
    y = x + 1
    return y * 2 if y.sum() > 0 else y


def chooses(x: torch.Tensor) -> torch.Tensor:
    """What lets the device decide, and asks for nothing but shapes."""
    assert torch.isfinite(x).all()
    _ = f"never printed {x.shape}"
    y = torch.where(x > 0, x, -x) if x.shape[0] > 2 else x
    if not torch.compiler.is_compiling():
        print(y.sum().item())
    return y


@torch.inference_mode()
def views_inside(x: torch.Tensor) -> torch.Tensor:
    """What views a weight from outside under `inference_mode`."""
    return layer(x)


@torch.inference_mode()
def computes_inside(x: torch.Tensor) -> torch.Tensor:
    """What only computes there."""
    return (x - x.mean()).abs().amax()


if __name__ == "__main__":
    torch.compile(views_inside, backend="aot_eager")(torch.ones(2, 4))
