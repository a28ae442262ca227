"""Programs that train on XLA, drawn from a grammar: right in form, and as odd in content as chance makes them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from hypothesis import strategies as st

Draw = Callable[..., Any]
NAMES = ("x", "y", "loss", "total", "model", "net", "optimizer", "loader", "step", "items", "flag", "value", "out")
ATTRIBUTES = ("model", "loss", "device", "total", "items", "step", "history")
HEADERS = (
    "import torch\nimport torch_xla\nimport torch_xla.core.xla_model as xm",
    "import torch\nimport torch_xla\nfrom torch_xla.core import xla_model as xm",
    "import torch\nimport torch_xla\nimport torch_xla.core.xla_model\nxm = torch_xla.core.xla_model",
    "import torch\ntry:\n    import torch_xla, torch_xla.core.xla_model as xm\nexcept ImportError:\n    xm = None",
)  # fmt: skip
IMPORTS = (
    "from torch import nn, optim",
    "import torch.nn as nn\nimport torch.optim as optim",
    "import torch.nn\nimport torch.optim\nnn, optim = torch.nn, torch.optim",
)
FURTHER = (
    "import torch_xla.distributed.parallel_loader as pl",
    "from torch_xla.distributed.parallel_loader import MpDeviceLoader",
    "import torch_xla.distributed.xla_multiprocessing as xmp",
    "import torch_xla.runtime as xr",
    "import torch.nn.functional as F",
    "import contextlib, functools, itertools, math, random, logging",
    "from accelerate import Accelerator\naccelerator = Accelerator()",
    "import numpy as np",
    "from helpers import *",
    "from .siblings import build",
)
DEVICES = ("torch_xla.device()", "xm.xla_device()", "torch.device('xla')", "'xla'", "xm.xla_device(n=1)", "'cpu'")
MODELS = (
    "nn.Linear(4, 4)", "nn.Sequential(nn.Linear(4, 4), nn.ReLU())", "Net()", "Net(*[4])", "Net(**{'width': 4})",
    "build()", "xmp.MpModelWrapper(Net())", "accelerator.prepare(Net())", "torch.compile(Net(), backend='openxla')",
)  # fmt: skip
OPTIMIZERS = ("optim.SGD(model.parameters(), lr=0.1)", "optim.AdamW(model.parameters())", "make(model)", "None")
LOADERS = (
    "torch.utils.data.DataLoader(range(9), batch_size=2)", "MpDeviceLoader(loader, device)", "Rows()", "rows(9)",
    "pl.MpDeviceLoader(torch.utils.data.DataLoader(Rows(), 2, drop_last=True), device)", "zip(items, items)",
    "pl.ParallelLoader(loader, [device]).per_device_loader(device)", "[(1, 2), (3, 4)]", "enumerate(loader)",
)  # fmt: skip
ATOMS = (
    "0", "1.5", "True", "None", "''", "'text'", "b'bytes'", "...", "1j", "[]", "{}", "()", "device", "self",
    "__name__", "torch.ones(2, 4, device=device)", "torch.zeros(4, 4)", "torch.tensor([1, 2]).to(device)",
    "xm.get_ordinal()", "model.parameters()", "next(iter(loader))", "random.random()", "len(items)", "10 ** 400",
    "'x' * 10 ** 12",
)  # fmt: skip
UNARY = (
    "-({})", "not ({})", "({}).item()", "({}).to(device)", "({}).detach()", "float({})", "int({})", "str({})", "[{}]",
    "({}).sum()", "({}).shape[0]", "({})[0]", "({})[:step]", "({})[..., None]", "({}).T", "({}).grad", "model({})",
    "print({})", "f'{{{}}}'", "f'{{{}:.2f}}'", "lambda: {}", "(lambda *a, **k: {})(1)", "({}).cpu().numpy()",
    "{{*[{}]}}", "({}).nonzero()", "({}).tolist()", "F.softmax({}, dim=-1)", "torch.save({}, 'f')",
    "xm.all_reduce('sum', {})", "xm.add_step_closure(print, args=({},))", "dict(a={})", "{{**dict(a={})}}",
    "list(map(print, [{}]))", "await_({})", "sum(v for v in [{}])", "[u for v in [{}] for u in v if u]",
    "{{k: v for k, v in ({}).items()}}", "any([{}])", "torch.where({})", "sorted([{}], key=lambda v: v)",
    "getattr({}, 'loss')", "functools.partial(print, {})()",
)  # fmt: skip
BINARY = (
    "({}) + ({})", "({}) @ ({})", "({}) / ({})", "({}) % ({})", "({}) ** ({})", "({}) << ({})", "({}) > ({})",
    "({}) == ({})", "({}) is ({})", "({}) in [({})]", "({}) and ({})", "({}) or ({})", "({}) if flag else ({})",
    "torch.cat([{}, {}])", "[{}, {}]", "({}, {})", "{{'a': {}, 'b': {}}}", "F.mse_loss({}, {})", "helper({}, {})",
    "helper(*[{}], **{{'y': {}}})", "({}) < ({}) < 3", "nn.functional.cross_entropy({}, {})", "max({}, {})",
)  # fmt: skip
LINES = (
    "xm.mark_step()", "torch_xla.sync()", "torch_xla.sync(wait=True)", "xm.optimizer_step(optimizer)", "pass",
    "optimizer.step()", "optimizer.zero_grad()", "loss.backward()", "xm.optimizer_step(optimizer, barrier=True)",
    "total += loss", "total = total + loss.item()", "items.append(loss)", "items += [out]", "step += 1", "del x",
    "del items[0]", "model = model.to(device)", "assert loss > 0, loss", "items[0] = loss", "items[:] = []", "x: int",
    "x: torch.Tensor = out", "a, *rest = items", "(a, b), [c] = out, items", "global total", "import math as m",
    "xm.rendezvous('here')", "torch.save(model.state_dict(), 'm.pt')", "logging.info('%s', loss)", "device = 'cpu'",
    "x = yield_ = (n := 3)", "from torch_xla.amp import autocast", "model.train(); optimizer.zero_grad()",
    "xmp.spawn(train, args=(1,), nprocs=8)", "torch_xla.launch(train, args=())", "items[0].total += loss",
    "x.grad = None", "loss = model(x).mean()", "loss = sum(model(x) for _ in range(3))", "raise StopIteration",
    "return_ = helper",
)  # fmt: skip
HEADS = (
    "for {name} in range({expression}):", "for {name} in {loader}:", "for step, ({name}, y) in enumerate(loader):",
    "while {expression}:", "while True:", "if {expression}:", "if step % 10 == 0:", "if xm.is_master_ordinal():",
    "if loss > 1:", "if __name__ == '__main__':", "with torch.no_grad():", "with open('f') as {name}, timed() as t:",
    "with torch.autocast('xla'):", "with timed():", "with torch_xla.step():", "with {expression}:", "if flag:",
    "for {name}[0] in items:", "for {name} in [torch.ones(2, device=device) for _ in range(3)]:",
)  # fmt: skip
ASYNC_HEADS = ("async for {name} in {loader}:", "async with timed() as {name}:")
DECORATORS = (
    "", "", "", "@torch.no_grad()\n", "@torch_xla.compile\n", "@functools.wraps(print)\n",
    "@contextlib.contextmanager\n", "@functools.lru_cache(maxsize=None)\n", "@staticmethod\n", "@property\n",
    "@classmethod\n", "@wrap\n", "@wrap(1)\n",
)  # fmt: skip
BASES = (
    "",
    "(nn.Module)",
    "(torch.utils.data.Dataset)",
    "(torch.utils.data.IterableDataset)",
    "(Meter)",
    "(object, *[])",
)
METHODS = (
    "__init__",
    "forward",
    "__call__",
    "__iter__",
    "__getitem__",
    "__enter__",
    "training_step",
    "update",
    "__len__",
)
SIGNATURES = (
    "", "x", "x, y=None", "*args", "**kwargs", "x, /, y, *, flag=False", "x, *args, flag=None, **kwargs",
    "model, loader", "x=loss, y=lambda: loss", "x: torch.Tensor, device=device",
)  # fmt: skip
PATTERNS = (
    "0",
    "'a'",
    "[a, *b]",
    "{'k': v, **rest}",
    "Meter(total=t)",
    "torch.Tensor()",
    "None | True",
    "(1 | 2) as n",
)
PRELUDE = """\
device = {device}
flag = 0
step, total, value, out, x, y = 0, 0.0, 1, None, torch.ones(2, 4, device=device), torch.zeros(2)
items = []
"""
TRAINING = (
    "{indent}optimizer.zero_grad()",
    "{indent}loss = {loss}",
    "{indent}loss.backward()",
    "{indent}{step}",
    "{indent}{read}",
    "{indent}{barrier}",
)
LOSSES = (
    "model(x).mean()",
    "F.mse_loss(model(x), y)",
    "compute(model, x)",
    "model(x, labels=y).loss",
    "(model(x) - y).abs().sum()",
)
STEPS = (
    "optimizer.step()",
    "xm.optimizer_step(optimizer)",
    "xm.optimizer_step(optimizer, barrier=True)",
    "scaler.step(optimizer)",
)
READS = (
    "print(loss)",
    "total += loss.item()",
    "items.append(loss)",
    "history.update(loss.item(), 4)",
    "if loss > 1: break",
    "pass",
)
BARRIERS = ("xm.mark_step()", "torch_xla.sync()", "if step % 4 == 0: torch_xla.sync()", "pass")
MOST_STATEMENTS = 3
DEEPEST = 2


@cache
def one_of(choices: tuple[str, ...]) -> st.SearchStrategy[str]:
    return st.sampled_from(choices)


@cache
def between(least: int, most: int) -> st.SearchStrategy[int]:
    return st.integers(least, most)


class Grammar:
    """The rules of the grammar; `where` says what the code stands in, which decides what may be written there."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw

    def one(self, choices: tuple[str, ...]) -> str:
        return str(self.draw(one_of(choices)))

    def number(self, least: int, most: int) -> int:
        return int(self.draw(between(least, most)))

    def program(self) -> str:
        blocks = [self.one(HEADERS), self.one(IMPORTS), *(self.one(FURTHER) for _ in range(self.number(0, 3)))]
        blocks.append(PRELUDE.format(device=self.one(DEVICES)))
        blocks += [self.definition() for _ in range(self.number(0, 3))]
        blocks.append(f"model = {self.one(MODELS)}\nmodel = model.to(device)")
        blocks.append(f"optimizer = {self.one(OPTIMIZERS)}\nloader = {self.one(LOADERS)}")
        if self.number(0, 1):
            blocks.append(f"def train({self.one(SIGNATURES)}):\n" + self.training("    "))
        else:
            blocks.append(self.training(""))
        blocks += [self.statement("", DEEPEST, frozenset()) for _ in range(self.number(0, 2))]
        return "\n".join(blocks) + "\n"

    def training(self, indent: str) -> str:
        """A training loop, more or less as it should be, with other code in it."""
        lines = [f"{indent}for step, x in enumerate({self.one(LOADERS)}):"]
        inner = indent + "    "
        within = frozenset({"loop", *(("function",) if indent else ())})
        for line in TRAINING:
            if self.number(0, 9):
                choices = {"loss": LOSSES, "step": STEPS, "read": READS, "barrier": BARRIERS}
                lines.append(line.format(indent=inner, **{name: self.one(some) for name, some in choices.items()}))
            if self.number(0, 3) == 0:
                lines.append(self.statement(inner, 1, within))
        return "\n".join(lines) + f"\n{inner}pass"

    def definition(self) -> str:
        return self.class_() if self.number(0, 2) == 0 else self.function("", self.one(FUNCTIONS), "")

    def class_(self) -> str:
        body = [f"    {self.one(ATTRIBUTES)} = {self.expression(1)}"] if self.number(0, 1) else []
        names = dict.fromkeys(self.one(METHODS) for _ in range(self.number(1, 3)))
        body += [self.function("    ", name, "self") for name in names]
        return f"class {self.one(CLASSES)}{self.one(BASES)}:\n" + "\n".join(body)

    def function(self, indent: str, name: str, receiver: str) -> str:
        signature = ", ".join(part for part in (receiver, self.one(SIGNATURES)) if part)
        within = {"function", *(("async",) if self.number(0, 5) == 0 else ())}
        head = f"{'async ' if 'async' in within else ''}def {name}({signature}):"
        decorator = self.one(DECORATORS)
        outer = f"{indent}    global total\n" if self.number(0, 4) == 0 else ""
        if decorator.startswith(("@staticmethod", "@property", "@classmethod")) and not receiver:
            decorator = ""
        decorated = f"{indent}{decorator}" if decorator else ""
        return f"{decorated}{indent}{head}\n{outer}" + self.block(indent + "    ", DEEPEST - 1, frozenset(within))

    def block(self, indent: str, depth: int, within: frozenset[str]) -> str:
        return "\n".join(self.statement(indent, depth, within) for _ in range(self.number(1, MOST_STATEMENTS)))

    def statement(self, indent: str, depth: int, within: frozenset[str]) -> str:
        kind = self.number(0, 11) if depth else self.number(0, 5)
        if kind <= 2:
            line = self.one(LINES)
            return indent + ("pass" if line.startswith("global") else line)
        if kind == 3:
            return f"{indent}{self.target()} = {self.expression(2)}"
        if kind == 4:
            return indent + self.expression(2)
        if kind == 5:
            return indent + self.jump(within)
        if kind <= 8:
            return self.compound(indent, depth, within)
        if kind == 9:
            return self.try_(indent, depth, within)
        if kind == 10:
            return self.match(indent, depth, within)
        return self.function(indent, self.one(FUNCTIONS), "")

    def compound(self, indent: str, depth: int, within: frozenset[str]) -> str:
        head = self.one((*HEADS, *ASYNC_HEADS) if "async" in within else HEADS)
        head = head.format(name=self.one(NAMES), expression=self.expression(1), loader=self.one(LOADERS))
        loop = head.startswith(("for", "while", "async for"))
        inner = within | {"loop"} if loop else within
        text = f"{indent}{head}\n" + self.block(indent + "    ", depth - 1, inner)
        if not head.startswith(("with", "async with")) and self.number(0, 3) == 0:
            text += f"\n{indent}else:\n" + self.block(indent + "    ", depth - 1, within)
        return text

    def try_(self, indent: str, depth: int, within: frozenset[str]) -> str:
        inner = indent + "    "
        text = f"{indent}try:\n{self.block(inner, depth - 1, within)}"
        text += f"\n{indent}except (RuntimeError, StopIteration) as error:\n{self.block(inner, depth - 1, within)}"
        if self.number(0, 1):
            text += f"\n{indent}else:\n{self.block(inner, 0, within)}"
        if self.number(0, 1):
            text += f"\n{indent}finally:\n{self.block(inner, 0, within - {'loop'})}"
        return text

    def match(self, indent: str, depth: int, within: frozenset[str]) -> str:
        inner = indent + "    "
        cases = [
            f"{inner}case {self.one(PATTERNS)}{' if flag' if self.number(0, 2) == 0 else ''}:\n"
            + self.block(inner + "    ", depth - 1, within)
            for _ in range(self.number(1, 2))
        ]
        return f"{indent}match {self.expression(1)}:\n" + "\n".join(cases)

    def jump(self, within: frozenset[str]) -> str:
        choices = ["pass", "pass", "pass", "raise ValueError(loss)"] if within else ["pass"]
        if "loop" in within:
            choices += ["break", "continue"]
        if "function" in within:
            choices += ["return", "yield x", "x = yield loss"]
            choices += ["await helper(x, y)"] if "async" in within else ["yield from loader", "return loss"]
        return self.one(tuple(choices))

    def target(self) -> str:
        kind = self.number(0, 5)
        if kind <= 2:
            return self.one(NAMES)
        return (f"value.{self.one(ATTRIBUTES)}", f"items[{self.one(ATOMS[:3])}]", "x, *y")[kind - 3]

    def expression(self, depth: int) -> str:
        kind = self.number(0, 3) if depth else 0
        if kind == 0:
            return self.one(NAMES) if self.number(0, 1) else self.one(ATOMS)
        if kind <= 2:
            return self.one(UNARY).format(self.expression(depth - 1))
        return self.one(BINARY).format(self.expression(depth - 1), self.expression(depth - 1))


FUNCTIONS = ("helper", "train", "evaluate", "rows", "timed", "make", "build", "wrap", "_mp_fn")
CLASSES = ("Net", "Rows", "Meter", "Trainer")


@st.composite
def programs(draw: Draw) -> str:
    """The source of a program."""
    return Grammar(draw).program()
