# A script of the releases in which xla_model told ranks, and syncfree optimizers were imported as modules.

import torch
import torch_xla
import torch_xla.amp.syncfree.SGD as SGD
import torch_xla.core.xla_model as xm
from torch_xla.experimental.xla_sharding import Mesh

device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
optimizer = SGD(model.parameters(), lr=0.1 * xm.xrt_world_size())
mesh = Mesh([0], (1,))
step = torch_xla.compile(model, num_different_graphs_allowed=2)
for number in range(10):
    loss = step(torch.ones(2, 4, device=device)).mean()
    loss.backward()
    optimizer.step()
    xm.step_closure(print, args=(xm.get_ordinal(), loss))
    torch_xla.sync()
