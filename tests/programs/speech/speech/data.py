import torch
import torch_xla.distributed.parallel_loader as pl
from torch.utils.data import DataLoader, TensorDataset


def batches(device, size):
    frames = TensorDataset(torch.randn(30, 8), torch.randint(0, 3, (30,)))
    return pl.MpDeviceLoader(DataLoader(frames, batch_size=size), device)  # expect: xla-ragged-batch
