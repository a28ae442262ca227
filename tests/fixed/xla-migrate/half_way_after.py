"""The device, the process group and the model are the new ones already; the rest is still torch_xla's."""

import torch
import torch.distributed as dist
import os
from torch.nn.parallel import DistributedDataParallel


@torch.compile(backend="tpu", dynamic=False)
def predict(model, x):
    return model(x)


def train(steps):
    dist.init_process_group("tpu_dist")
    torch.manual_seed(4)
    rank, world, local = dist.get_rank(), dist.get_world_size(), int(os.environ["LOCAL_RANK"])
    device = torch.device("tpu")
    model = DistributedDataParallel(torch.nn.Linear(8, 1).to(device))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3 * world)
    for step in range(steps):
        x = torch.randn(4, 8, device=torch.device("tpu"))
        # Half of the precision will do.
        with torch.autocast("tpu", dtype=torch.bfloat16):
            loss = model(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

        if step % 100 == 0 and not dist.get_rank() == 0:
            print(rank, local)
        dist.barrier()
        if dist.get_rank() == 0:
            print(
                "step", step,
            )
    torch.tpu.synchronize()
    return predict(model, x.to("tpu"))


if __name__ == "__main__":
    train(1000)
