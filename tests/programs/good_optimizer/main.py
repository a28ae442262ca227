"""An autoencoder: the optimizer is built in one file, the model is moved in another."""

import torch
import torch_xla
from devices import place
from nets import Coder
from recipe import optimizer_for


def main(steps=8):
    torch.manual_seed(0)
    coder = Coder(12, 4)
    device = place(coder)
    optimizer = optimizer_for(coder, "adam")
    for _ in range(steps):
        rows = torch.randn(16, 12, device=device)
        optimizer.zero_grad()
        (coder(rows) - rows).square().mean().backward()
        optimizer.step()
        torch_xla.sync()


if __name__ == "__main__":
    main()
