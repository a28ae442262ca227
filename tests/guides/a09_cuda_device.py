import torch
import torch_xla
import torch_xla.core.xla_model as xm

device = torch.device("cuda")  # expect: xla-cuda-leftover
model = torch.nn.Linear(8, 2).to(device)
