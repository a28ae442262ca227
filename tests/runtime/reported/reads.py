"""Values that are read while pending, and graphs that nothing cuts, as in the reports that the functions are named for."""

import math

import torch
import torch_xla
import torch_xla.core.xla_model as xm
from common import case, device, setup
from torch import nn


def xla_2120():
    net, opt = setup(6, 6, 1)
    total = 0.0
    for step in range(30):
        rows = torch.randn(4 if step % 10 else 7, 6).to(device)
        opt.zero_grad()
        loss = net(rows).square().mean()
        loss.backward()
        opt.step()
        total += loss.item()  # rule: xla-value-read # because: input 4 is f32[4,6], and was f32[7,6] []
        torch_xla.sync()  # because: input 4 is f32[4,6], and was f32[7,6] []


def xla_1777():
    net, _ = setup(6, 5, 1)

    def rms(t):
        return math.sqrt(t.pow(2).mean())  # rule: xla-value-read

    for step in range(12):
        net.zero_grad()
        net(torch.randn(4, 6).to(device)).square().mean().backward()
        with torch.no_grad():
            for p in net.parameters():
                p.data.sub_(p.grad.div(max(1.0, rms(p.grad))), alpha=0.1)
        torch_xla.sync()


def xla_7596():
    net, _ = setup(6, 6, 2)
    with torch.no_grad():
        for _ in range(12):
            out = net(torch.randn(4, 6).to(device))
            print(out.sum(), end="\r")  # rule: xla-print-tensor


def xla_6002():
    net, opt = setup(6, 6, 2)
    for _ in range(12):
        out = net(torch.randn(4, 6).to(device))
        loss = out.square().mean()
        loss.backward()
        opt.step()
        opt.zero_grad()
        a = out.detach().cpu().numpy()  # rule: xla-value-read
        b = loss.detach().cpu().numpy()  # rule: xla-value-read
        torch_xla.sync()


def xla_2658():
    net, opt = setup(6, 6, 2)
    for step in range(12):
        loss = net(torch.randn(4, 6).to(device)).square().mean()
        loss.backward()
        opt.step()
        opt.zero_grad()
        torch_xla.sync()
        shown = round(float(loss.mean()), 3)  # rule: xla-value-read
        text = f"{step}: {loss}"  # rule: xla-late-read


def xla_1368():
    layer = nn.Linear(6, 6).to(device)

    def forward(x):
        act = layer(x).relu()
        if act.sum().eq(0):  # rule: xla-tensor-branch
            print("dead")
        return act.mean()

    for _ in range(12):
        out = forward(torch.randn(4, 6).to(device))
        torch_xla.sync()


def xla_6948():
    net, opt = setup(6, 6, 1)
    for step in range(16):
        opt.zero_grad()
        loss = net(torch.randn(4, 6).to(device)).mean()
        loss.backward()
        xm.optimizer_step(opt)
        if step % 4 == 3:
            shown = loss.item()  # rule: xla-periodic-read # because: its graphs grow [xla-missing-sync]


def xla_3593():
    net, opt = setup(6, 6, 1)
    for step in range(24):
        loss = net(torch.randn(4, 6).to(device)).mean() / 6
        loss.backward()
        if step % 6 == 5:
            opt.step()
            opt.zero_grad()
            torch_xla.sync()  # rule: xla-conditional-sync


for each in (xla_2120, xla_1777, xla_7596, xla_6002, xla_2658, xla_1368, xla_6948, xla_3593):
    case(each)
