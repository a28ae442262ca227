"""The device, the process group and the model are the new ones already; the rest is still torch_xla's."""

import torch
import torch.distributed as dist
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.xla_backend
import torch_xla.runtime as xr
from torch.nn.parallel import DistributedDataParallel
from torch_xla.amp import autocast, syncfree


@torch_xla.compile
def predict(model, x):
    return model(x)


def train(steps):
    dist.init_process_group("tpu_dist")
    torch_xla.manual_seed(4)
    rank, world, local = xr.global_ordinal(), xm.xrt_world_size(), xr.local_ordinal()
    device = torch.device("tpu")
    model = DistributedDataParallel(torch.nn.Linear(8, 1).to(device))
    optimizer = syncfree.AdamW(model.parameters(), lr=1e-3 * world)
    for step in range(steps):
        with torch_xla.step():
            x = torch.randn(4, 8, device=xm.xla_device())
            # Half of the precision will do.
            with autocast(xm.xla_device()):
                loss = model(x).mean()
            optimizer.zero_grad()
            loss.backward()
            xm.optimizer_step(optimizer, barrier=True)

        if step % 100 == 0:
            xm.mark_step()  # cut
        if step % 100 == 0 and not xm.is_master_ordinal(local=False):
            print(rank, local)
        xm.mark_step(); xm.rendezvous("step")
        xm.master_print(
            "step", step,
        )
    xm.wait_device_ops()
    return predict(model, x.to("xla"))


if __name__ == "__main__":
    train(1000)
