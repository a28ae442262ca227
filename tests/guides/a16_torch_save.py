import torch
import torch_xla
import torch_xla.core.xla_model as xm

device = torch_xla.device()
model = torch.nn.Linear(8, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss_fn = torch.nn.CrossEntropyLoss()
rows = torch.utils.data.TensorDataset(torch.randn(64, 8), torch.randint(2, (64,)))

torch.save(model.state_dict(), "model.pt")  # expect: xla-torch-save
