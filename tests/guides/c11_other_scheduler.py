import torch
from accelerate import Accelerator

accelerator = Accelerator()
model = torch.nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
loss_fn = torch.nn.CrossEntropyLoss()
rows = torch.utils.data.TensorDataset(torch.randn(64, 8), torch.randint(2, (64,)))
loader = torch.utils.data.DataLoader(rows, batch_size=8, drop_last=True)
model, optimizer, loader, lr_scheduler = accelerator.prepare(model, optimizer, loader, scheduler)

for inputs, targets in loader:
    optimizer.zero_grad()
    accelerator.backward(loss_fn(model(inputs), targets))
    optimizer.step()
    scheduler.step()  # expect: xla-accelerate-unprepared
