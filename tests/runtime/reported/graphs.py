"""Graphs that differ in what they hold, as in the reports that the functions are named for."""

import torch
import torch_xla
from common import case, device, setup
from torch import nn


def vllm_16726():
    buffer = torch.zeros(64, 4).to(device)
    torch_xla.sync()
    for size in [16, 32, 16, 48, 16, 20, 16, 32, 16, 16, 16, 16, 16, 16, 24, 16]:
        part = buffer[:size] * 2
        out = part.sum()
        torch_xla.sync()  # rule: xla-changing-shape # because: xla::select gives f32[24,4], and gave f32[20,4], from the same inputs [xla-changing-shape]


def xla_2422():
    net, opt = setup(6, 6, 1)
    for bptt in [9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 4, 9, 9, 6, 9]:
        hidden = torch.zeros(2, 6).to(device)
        for t in range(bptt):
            hidden = hidden * 0.5 + torch.randn(2, 6).to(device)
        loss = net(hidden).mean()
        loss.backward()
        opt.step()
        opt.zero_grad()
        torch_xla.sync()  # because: it has less of multiply [] # because: it has more of multiply []


def xla_1562():
    net, opt = setup(6, 6, 1)
    kept = {}
    for step in range(30):
        opt.zero_grad()
        net(torch.randn(4, 6).to(device)).mean().backward()
        if step % 10 == 9:
            for name, p in net.named_parameters():
                kept[name] = p.grad.abs().max()
        opt.step()
        torch_xla.sync()  # because: it has abs, which the closest one before lacks []


def xla_4994():
    weight = torch.randn(4, 4).to(device)
    torch_xla.sync()
    for rate in [0.3, 0.2, 0.1, 0.05, 0.0, 0.1, 0.2, 0.3, 1.0, 0.5, 0.25, 0.125]:
        weight = weight * rate
        torch_xla.sync()  # because: it has 1 input fewer [] # because: a constant of aten::mul is 1, and was 0 []


def xla_3080():
    for _ in range(10):
        x = torch.randn(4, 6).to(device)
        out = torch.logaddexp(x, x + 1).sum()  # rule: xla-cpu-fallback
        torch_xla.sync()


def neuron_602():
    net, opt = setup(6, 6, 1)
    for _ in range(12):
        opt.zero_grad()
        loss = net(torch.randn(4, 6).to(device)).mean()
        loss.backward()
        torch_xla.sync()  # rule: xla-split-step
        opt.step()
        torch_xla.sync()


def xla_1623():
    net = nn.Linear(6, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    moved = nn.Linear(6, 1).to(device)
    for _ in range(10):
        moved(torch.randn(4, 6).to(device)).mean().backward()
        opt.step()
        torch_xla.sync()  # because: it has aten::add, which the closest one before lacks; and because it has 2 inputs more []


def lightning_20665():
    net, opt = setup(6, 6, 1)
    for epoch in range(3):
        losses = []
        for step in range(12):
            opt.zero_grad()
            loss = net(torch.randn(4, 6).to(device)).mean()
            loss.backward()
            opt.step()
            losses.append(loss.detach())
            if step == 11:
                epoch_mean = torch.stack(losses).mean()
            torch_xla.sync()  # because: it has concatenate, which the closest one before lacks; and because it has 11 inputs more []
        print(epoch_mean.item(), end="\r")


def xla_8861():
    net, _ = setup(6, 6, 1)
    for _ in range(10):
        out = net(torch.rand(4, 6).to(device)).mean()
        torch_xla.sync()


for each in (vllm_16726, xla_2422, xla_1562, xla_4994, xla_3080, neuron_602, xla_1623, lightning_20665, xla_8861):
    case(each)
