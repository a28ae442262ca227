"""The program has moved to TorchTPU; what it asks the environment for is still for torch_xla."""

import os

os.environ["TORCH_TPU_DEFER_AND_FUSE"] = "0"

import torch

device = torch.device("tpu")
print(torch.ones(4, device=device).sum())
