import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.parallel_loader as pl


def main():  # expect: xla-missing-mp-fn
    device = torch_xla.device()
    model = torch.nn.Linear(8, 2).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    rows = torch.utils.data.TensorDataset(torch.randn(64, 8), torch.randint(2, (64,)))
    for inputs, targets in pl.MpDeviceLoader(torch.utils.data.DataLoader(rows, batch_size=8), device):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), targets).backward()
        xm.optimizer_step(optimizer)


if __name__ == "__main__":
    main()
