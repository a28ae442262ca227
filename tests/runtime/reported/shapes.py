"""Shapes and indices that change, as in the reports that the functions are named for."""

import torch
import torch_xla
from common import case, device, setup
from torch import nn


def xla_4532():
    net, opt = setup(6, 6, 1)
    for epoch in range(3):
        for _ in range(12):
            opt.zero_grad()
            net(torch.randn(4, 6).to(device)).mean().backward()
            opt.step()
            torch_xla.sync()  # rule: xla-missing-sync
        losses = []
        with torch.no_grad():
            for _ in range(10):
                out = net(torch.randn(4, 6).to(device))
                losses.append(out.square().mean())
        print(torch.stack(losses).mean().item(), end="\r")  # rule: xla-missing-sync


def xla_2502():
    cell = nn.GRUCell(4, 4).to(device)
    state = torch.zeros(2, 4).to(device)
    seen = []
    for step in range(20):
        state = cell(torch.randn(2, 4).to(device), state).detach()
        if step % 5 == 4:
            seen.append(state.cpu())  # rule: xla-periodic-read


def xla_3356():
    net = nn.Embedding(20, 4).to(device)
    lengths = [9, 5, 7, 9, 8, 5, 9, 6, 7, 9, 5, 9]

    def collate(length):
        return torch.randint(0, 20, (2, length))

    for length in lengths * 2:
        tokens = collate(length)
        tokens = tokens.to(device)
        loss = net(tokens).mean()
        loss.backward()
        net.zero_grad()
        torch_xla.sync()  # rule: xla-changing-shape # because: input 0 is s64[2,6], and was s64[2,8] [xla-changing-shape]


def xla_1279():
    net, opt = setup(6, 6, 1)
    data = torch.randn(83, 6)
    for epoch in range(2):
        for rows in data.split(4):
            rows = rows.to(device)
            opt.zero_grad()
            loss = net(rows).mean()
            loss.backward()
            opt.step()
            torch_xla.sync()  # rule: xla-ragged-batch # because: input 4 is f32[3,6], and was f32[4,6] [xla-ragged-batch]


def xla_2661():
    weight = torch.randn(8, 4).to(device)
    for _ in range(10):
        x = torch.randn(8, 4).to(device)
        y = x * weight
        mask = x > 0
        x[~mask] = y[mask][: int((~mask).sum())].mean()  # rule: xla-data-dependent-shape
        out = x.sum()
        torch_xla.sync()  # rule: xla-data-dependent-shape # because: input 2 is s64[18,2], and was s64[10,2] [xla-data-dependent-shape] # because: input 2 is s64[14,2], and was s64[18,2] [xla-data-dependent-shape]


def xla_7622():
    table = torch.randn(8, 4).to(device)
    for _ in range(10):
        tokens = torch.randint(0, 3, (8,)).to(device)
        where = torch.nonzero(tokens == 2)  # rule: xla-data-dependent-shape
        merged = table[where.squeeze(1)].sum(0)
        torch_xla.sync()  # rule: xla-data-dependent-shape # because: input 0 is s64[ [xla-data-dependent-shape]


def xla_2757():
    scores = torch.zeros(2, 12).to(device)
    for position in range(12):
        scores[:, position] = torch.randn(2).to(device)
        torch_xla.sync()  # rule: xla-changing-constant # because: a constant of xla::update_slice is 11, and was 10 [xla-changing-constant]


def xla_8901():
    net = nn.Embedding(20, 4).to(device)
    tokens = torch.zeros(1, 3, dtype=torch.long).to(device)
    with torch.no_grad():
        for _ in range(10):
            new = net(tokens).sum(-1).argmax(-1, keepdim=True)
            tokens = torch.cat([tokens, new], 1)
            torch_xla.sync()  # rule: xla-growing-tensor # because: aten::argmax gives s32[1,4], and gave s32[1,3] [xla-growing-tensor] # because: input 0 is s64[1,12], and was s64[1,11] [xla-growing-tensor]


for each in (xla_4532, xla_2502, xla_3356, xla_1279, xla_2661, xla_7622, xla_2757, xla_8901):
    case(each)
