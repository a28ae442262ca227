"""A forecaster of sensor values: the loop, the network and the meters have a file each."""

import torch
import torch_xla
from network import Forecaster
from training import fit

if __name__ == "__main__":
    torch.manual_seed(0)
    device = torch_xla.device()
    forecaster = Forecaster(6, 16).to(device)
    optimizer = torch.optim.Adam(forecaster.parameters(), lr=1e-2)
    error, worst = fit(forecaster, optimizer, device, steps=8)
    print(f"mean error {error:.3f}, worst {worst:.3f}")
