"""A small sequence tagger whose graph keeps changing, so that XLA keeps compiling."""

import random

import torch
import torch.nn.functional as F
import torch_xla
import torch_xla.distributed.parallel_loader as pl
from torch import nn
from torch.nn.utils.rnn import pad_sequence
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
    lengths = [random.randint(4, LONGEST) for _ in range(count)]
    return [(torch.randint(1, TOKENS, (n,)), torch.randint(1, TAGS, (n,))) for n in lengths]


def collate(rows):
    # As wide as the longest row of this batch: a new width is a new graph.
    tokens = pad_sequence([tokens for tokens, _ in rows], batch_first=True)
    tags = pad_sequence([tags for _, tags in rows], batch_first=True)
    return tokens, tags


def train(model, loader, optimizer):
    for tokens, tags in loader:
        optimizer.zero_grad()
        logits = model(tokens)
        # How many rows a mask selects is known on the device alone.
        kept = tags != 0
        loss = F.cross_entropy(logits[kept], tags[kept])
        # A coin tossed on the host: both graphs are compiled, and each toss picks one.
        if random.random() < 0.3:
            loss = loss + 0.01 * logits.square().mean()
        loss.backward()
        optimizer.step()


@torch.no_grad()
def decode(model, device, batch=4, steps=6):
    output = torch.ones(batch, 1, dtype=torch.long, device=device)
    scores = torch.zeros(batch, LONGEST, device=device)
    for position in range(steps):
        best = model(output)[:, -1].max(-1)
        # The position is a Python number, built into the graph.
        scores[:, position] = best.values
        # One column longer in every step.
        output = torch.cat([output, best.indices[:, None]], dim=1)
        torch_xla.sync()
    return output, scores


def main():
    random.seed(0)
    torch.manual_seed(0)
    device = torch_xla.device()
    model = Tagger().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    # 50 rows in batches of 8: the last batch has 2, which is one graph more.
    host = DataLoader(sentences(50), batch_size=8, shuffle=True, collate_fn=collate)
    train(model, pl.MpDeviceLoader(host, device), optimizer)
    output, scores = decode(model, device)
    print(output.tolist()[0], f"{scores.sum().item():.3f}")


if __name__ == "__main__":
    main()
