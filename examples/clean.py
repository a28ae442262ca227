"""The same kind of program without a stall: fixed shapes, one graph a step, values read when it costs nothing."""

import torch
import torch.nn.functional as F
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.parallel_loader as pl
from torch import nn
from torch.utils.data import DataLoader

TOKENS, TAGS, LONGEST = 50, 5, 12


class Tagger(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.embed = nn.Embedding(TOKENS, width)
        self.mix = nn.Linear(width, width)
        self.out = nn.Linear(width, TAGS)

    def forward(self, tokens):
        return self.out(torch.tanh(self.mix(self.embed(tokens))))


def sentences(count):
    lengths = torch.randint(4, LONGEST + 1, (count,)).tolist()
    return [(torch.randint(1, TOKENS, (n,)), torch.randint(1, TAGS, (n,))) for n in lengths]


def collate(rows):
    # Every batch is padded to the same width.
    tokens = torch.stack([F.pad(tokens, (0, LONGEST - len(tokens))) for tokens, _ in rows])
    tags = torch.stack([F.pad(tags, (0, LONGEST - len(tags))) for _, tags in rows])
    return tokens, tags


def report(step, loss):
    # Runs after the barrier, where the value is there already.
    print(f"step {step}: loss {loss.item():.3f}")


def train(model, loader, optimizer, device):
    total = torch.zeros((), device=device)
    for step, (tokens, tags) in enumerate(loader):
        optimizer.zero_grad()
        # Padding is left out by its index: the shape stays the same.
        loss = F.cross_entropy(model(tokens).flatten(0, 1), tags.flatten(), ignore_index=0)
        loss.backward()
        optimizer.step()
        # A detached total on the device; it is read once, after the loop.
        total += loss.detach()
        xm.add_step_closure(report, args=(step, loss))
    return total / len(loader)


@torch.no_grad()
def decode(model, device, batch=4, steps=6):
    columns = torch.ones(batch, 1, dtype=torch.long, device=device)
    chosen = []
    for _ in range(steps):
        columns = model(columns).argmax(-1)
        chosen.append(columns)
        torch_xla.sync()
    return torch.cat(chosen, dim=1)


def main():
    torch.manual_seed(0)
    device = torch_xla.device()
    model = Tagger().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    host = DataLoader(sentences(64), batch_size=8, shuffle=True, collate_fn=collate, drop_last=True, num_workers=2)
    mean = train(model, pl.MpDeviceLoader(host, device), optimizer, device)
    print(f"mean loss {mean.item():.3f}")
    print(decode(model, device).tolist()[0])


if __name__ == "__main__":
    main()
