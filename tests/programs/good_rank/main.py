"""A ranking model trained by several replicas; who reports is decided here and passed on."""

import torch
import torch_xla
import torch_xla.core.xla_model as xm
from ranker import Ranker
from reports import Report
from training import train


def _mp_fn(index):
    torch.manual_seed(0)
    device = torch_xla.device()
    ranker = Ranker(10).to(device)
    optimizer = torch.optim.Adagrad(ranker.parameters(), lr=0.1)
    report = Report(leads=xm.is_master_ordinal(local=False))
    train(ranker, optimizer, device, report, steps=8)
    report.finish(ranker, "ranker.pt")


if __name__ == "__main__":
    torch_xla.launch(_mp_fn)
