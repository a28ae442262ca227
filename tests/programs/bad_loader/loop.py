import torch
from torch.nn import functional


def train(model, optimizer, loader):
    model.train()
    for measures, kinds in loader:  # expect: xla-missing-sync
        optimizer.zero_grad()
        functional.cross_entropy(model(measures), kinds).backward()
        optimizer.step()


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    hits, seen = 0, 0
    for measures, kinds in loader:  # expect: xla-missing-sync
        hits = hits + (model(measures).argmax(1) == kinds).sum()
        seen += len(kinds)
    return hits.item() / seen
