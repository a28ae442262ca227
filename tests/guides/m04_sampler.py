import torch
import torch_xla
import torch_xla.runtime as xr


def loader_for(rows):
    if xr.world_size() > 1:
        sampler = torch.utils.data.DistributedSampler(rows, num_replicas=xr.world_size(), rank=xr.global_ordinal())
    shuffle = not sampler  # expect: possibly-used-before-assignment
    return torch.utils.data.DataLoader(rows, batch_size=8, sampler=sampler, shuffle=shuffle)
