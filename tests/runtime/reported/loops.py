"""Loops whose host code asks the device, or whose steps differ, as in the reports that the functions are named for."""

import torch
import torch.nn.functional as F
import torch_xla
import torch_xla.core.xla_model as xm
from common import case, device, setup
from torch import nn


def xla_6015():
    class Counted(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(16, 4)

        def forward(self, tokens):
            number = int(tokens.sum())  # rule: xla-value-read
            return self.embedding(tokens).mean() * number

    net = Counted().to(device)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(8):
        opt.zero_grad()
        tokens = torch.full((4, 3), step % 2 + 1).to(device)
        net(tokens).backward()
        xm.optimizer_step(opt)
        torch_xla.sync()


def xla_6614():
    net, _ = setup(6, 6)
    sigmas = torch.linspace(1, 0, 9).to(device)
    x = torch.randn(2, 6).to(device)
    with torch.no_grad():
        for i in range(len(sigmas) - 1):
            x = x + (net(x) - x) * (sigmas[i] - sigmas[i + 1])
            torch_xla.sync()  # rule: xla-changing-constant # because: xla::generic_slice is built with slice={[7:8]} [xla-changing-constant]
            if sigmas[i + 1] == 0:  # rule: xla-tensor-branch # because: generic_slice is [xla-changing-constant]
                break


def xla_9171():
    class Gated(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, t):
            if t[0, 0] > 0:  # rule: xla-tensor-branch
                return self.layer(t)
            return self.layer(t) * 2

    net = Gated().to(device)
    for step in range(8):
        out = net(torch.full((2, 4), 1.0 - step % 2).to(device)).sum()
        out.backward()
        net.zero_grad()
        torch_xla.sync()  # because: it has aten::mul []


def swift_1677():
    net, opt = setup(6, 1)
    for number in range(12):
        loss = net(torch.randn(4, 6).to(device)).square().mean() / 4
        loss.backward()
        if (number + 1) % 4 == 0:
            opt.step()
            opt.zero_grad()
            torch_xla.sync()  # rule: xla-conditional-sync


def xla_1521():
    scale = torch.ones(4).to(device)
    for step in range(8):
        boxes = (torch.rand(10, 4).to(device) + 0.1 * step) * scale
        keep = boxes[:, 0] > 0.6
        boxes = boxes[keep]  # rule: xla-data-dependent-shape # because: it has 1 input more []
        area = (boxes[:, 2] * boxes[:, 3]).sum()
        torch_xla.sync()  # rule: xla-data-dependent-shape # because: it has 1 input more [] # because: input 4 is s64[ [xla-data-dependent-shape]


def vllm_14510():
    hidden = torch.randn(12, 6).to(device)
    head, _ = setup(6, 4)
    torch_xla.sync()
    with torch.no_grad():
        for step in range(8):
            chosen = list(range(0, 12, 1 + step % 4))
            rows = hidden[torch.tensor(chosen, device=device)]
            logits = head(rows).argmax(-1)
            torch_xla.sync()  # rule: xla-changing-shape # because: input 0 is s64[3], and was s64[4] [xla-changing-shape]


def lightning_14457():
    net, opt = setup(6, 3)
    right = 0
    for _ in range(8):
        opt.zero_grad()
        x, y = torch.randn(4, 6).to(device), torch.randint(0, 3, (4,)).to(device)
        out = net(x)
        loss = F.cross_entropy(out, y)
        loss.backward()
        xm.optimizer_step(opt)
        right += (out.argmax(-1).cpu() == y.cpu()).sum().item()  # rule: xla-value-read
        torch_xla.sync()


def neuron_samples_4():
    net = nn.Sequential(nn.Embedding(16, 4), nn.Linear(4, 1)).to(device)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for longest in (7, 12, 7, 20, 12, 9, 15, 22):
        length = (longest + 7) // 8 * 8
        opt.zero_grad()
        tokens = torch.zeros(2, length, dtype=torch.long).to(device)
        net(tokens).mean().backward()
        opt.step()
        torch_xla.sync()  # rule: xla-changing-shape # because: input 1 is s64[2,24], and was s64[2,16] [xla-changing-shape]


def torchprime_260():
    net, opt = setup(6, 1)
    for step in range(12):
        opt.zero_grad()
        loss = net(torch.randn(4, 6).to(device)).square().mean()
        loss.backward()
        opt.step()
        if step == 10:
            total = sum(p.square().sum() for p in net.parameters())
        torch_xla.sync()  # because: it has more of add []


def xla_6413():
    net = nn.Sequential(nn.Embedding(16, 4), nn.Linear(4, 1)).to(device)
    for texts in ([3, 5], [4, 2], [6, 1], [5, 5], [7, 2], [3, 6]):
        tokens = torch.zeros(2, max(texts), dtype=torch.long)
        mask = (torch.arange(max(texts)) < torch.tensor(texts)[:, None]).to(device)
        loss = (net(tokens.to(device)).squeeze(-1) * mask).mean()
        loss.backward()
        net.zero_grad()
        torch_xla.sync()  # rule: xla-changing-shape # because: input 0 is pred[2,7], and was pred[2,6] [xla-changing-shape]


def xla_2054():
    net, opt = setup(6, 1)
    losses = []
    for _ in range(8):
        opt.zero_grad()
        loss = net(torch.randn(4, 6).to(device)).square().mean()
        loss.backward()
        xm.optimizer_step(opt)
        torch_xla.sync()
        losses.append(loss.item())  # rule: xla-late-read


for each in (
    xla_6015,
    xla_6614,
    xla_9171,
    swift_1677,
    xla_1521,
    vllm_14510,
    lightning_14457,
    neuron_samples_4,
    torchprime_260,
    xla_6413,
    xla_2054,
):
    case(each)
