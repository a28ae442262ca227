import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.parallel_loader as pl

device = torch_xla.device()
model = torch.nn.Linear(8, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss_fn = torch.nn.CrossEntropyLoss()
rows = torch.utils.data.TensorDataset(torch.randn(64, 8), torch.randint(2, (64,)))
loader = pl.MpDeviceLoader(torch.utils.data.DataLoader(rows, batch_size=8, drop_last=True), device)

for inputs, targets in loader:  # expect: xla-missing-zero-grad
    loss = loss_fn(model(inputs), targets)
    loss.backward()
    optimizer.step()
