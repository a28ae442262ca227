import torch
import torch_xla
import torch_xla.core.xla_model as xm

device = torch_xla.device()
model = torch.nn.Linear(8, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss_fn = torch.nn.CrossEntropyLoss()
rows = torch.utils.data.TensorDataset(torch.randn(60, 8), torch.randint(2, (60,)))
loader = torch.utils.data.DataLoader(rows, batch_size=8)  # expect: xla-ragged-batch

for inputs, targets in loader:
    inputs, targets = inputs.to(device), targets.to(device)
    optimizer.zero_grad()
    loss = loss_fn(model(inputs), targets)
    loss.backward()
    optimizer.step()
    torch_xla.sync()
