"""The program has moved to TorchTPU; what it asks the environment for is still for torch_xla."""

import os

os.environ["PJRT_DEVICE"] = "TPU"  # the runtime
os.environ.setdefault("XLA_USE_BF16", "1"); os.environ["TORCH_TPU_DEFER_AND_FUSE"] = "0"
if __name__ == "__main__":
    os.putenv("XLA_IR_DEBUG", "1")

import torch

device = torch.device("tpu")
print(torch.ones(4, device=device).sum())
