import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.parallel_loader as pl
import torch_xla.runtime as xr


def train(index):
    device = torch_xla.device()
    model = torch.nn.Linear(8, 2).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss_fn = torch.nn.CrossEntropyLoss()
    rows = torch.utils.data.TensorDataset(torch.randn(64, 8), torch.randint(2, (64,)))
    sampler = torch.utils.data.DistributedSampler(rows, num_replicas=xr.world_size(), rank=xr.global_ordinal())
    loader = torch.utils.data.DataLoader(rows, batch_size=8, sampler=sampler, drop_last=True)
    loader = pl.MpDeviceLoader(loader, device)
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss_fn(model(inputs), targets).backward()
        optimizer.step()  # expect: xla-unreduced-gradients


if __name__ == "__main__":
    torch_xla.launch(train)
