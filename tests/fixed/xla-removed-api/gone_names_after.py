# A script of the releases in which xla_model told ranks, and syncfree optimizers were imported as modules.

import torch
import torch_xla
from torch_xla.amp.syncfree import SGD
import torch_xla.core.xla_model as xm
import torch_xla.runtime as xr
from torch_xla.distributed.spmd import Mesh

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
optimizer = SGD(model.parameters(), lr=0.1 * xr.world_size())
mesh = Mesh([0], (1,))
step = torch_xla.compile(model, max_different_graphs=2)
for number in range(10):
    loss = step(torch.ones(2, 4, device=device)).mean()
    loss.backward()
    optimizer.step()
    xm.add_step_closure(print, args=(xr.global_ordinal(), loss))
    torch_xla.sync()
