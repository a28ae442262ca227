"""Small programs that say line by line what is found there, and what a value is.

`# expect: xla-value-read` names the findings of a line, as in the fixtures. `probe.value(x)  # is: device tensor` says
what `x` stands for in the words of `told`.
"""

from __future__ import annotations

import re
import textwrap

from tests.test_fixtures import expected
from xla_lint.engine import Settings, check_module, default_symbols
from xla_lint.program.domain.definitions import Function
from xla_lint.program.domain.loaders import Loader
from xla_lint.program.domain.values import (
    NONE,
    UNKNOWN,
    Choice,
    Device,
    Instance,
    Location,
    Mapping,
    Number,
    Sequence,
    Stream,
    Tensor,
    Text,
    Trait,
    Value,
)
from xla_lint.program.library.registry import FUNCTIONS
from xla_lint.program.machine.arguments import Arguments
from xla_lint.program.machine.machine import Machine
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import parse

HEAD = """\
import probe
import torch, torch_xla
import torch_xla.core.xla_model as xm
from torch import nn
from torch.utils.data import DataLoader
from torch_xla.distributed.parallel_loader import MpDeviceLoader

device = torch_xla.device()
model = nn.Sequential(nn.Linear(4, 4), nn.ReLU()).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = MpDeviceLoader(DataLoader([torch.ones(4)] * 8, batch_size=2, drop_last=True), device)

def update(x):
    optimizer.zero_grad()
    loss = model(x).mean()
    loss.backward()
    optimizer.step()
    return loss.detach()

t = torch.ones(3, 4, device=device)
h = torch.ones(3, 4)
"""
PROBE = "probe.value"
CLAIM = re.compile(r"# is: (.+)$")
PLACES = {Location.DEVICE: "device", Location.HOST: "host", Location.UNKNOWN: "some"}


def told(value: Value | None) -> str:
    """A value in words."""
    if value is None:
        return "absent"
    if value is UNKNOWN or value is NONE:
        return "unknown" if value is UNKNOWN else "None"
    if isinstance(value, Choice):
        return " or ".join(sorted(told(option) for option in value.options))
    if isinstance(value, Tensor):
        rows = f" of {value.length}" if value.length is not None else ""
        return f"{PLACES[value.place]} {'output' if value.unstructured else 'tensor'}{rows}"
    if isinstance(value, Number):
        traits = "".join(f" {trait.name.lower()}" for trait in Trait if trait in value.traits)
        return f"number{traits}" if value.const is None else f"{value.const}{traits}"
    if isinstance(value, Text):
        return "text" if value.const is None else repr(value.const)
    if isinstance(value, Device):
        return f"{PLACES[value.place]} named"
    return told_of_object(value)


def told_of_object(value: Value) -> str:
    """What holds other values, in words."""
    if isinstance(value, Sequence):
        items = [f"{told(value.element)}.."] if value.items is None else [told(item) for item in value.items]
        return f"({', '.join(items)})" if value.frozen else f"[{', '.join(items)}]"
    if isinstance(value, Mapping):
        entries = [f"{key}: {told(item)}" for key, item in value.entries.items()]
        return "{" + ", ".join(entries if value.element is None else [*entries, f"{told(value.element)}.."]) + "}"
    if isinstance(value, Stream):
        return "stream"
    if isinstance(value, Loader):
        return "device loader" if value.wrapped else "loader"
    if isinstance(value, Function):
        return f"function {value.name}"
    if isinstance(value, Instance):
        last = value.library.rpartition(".")[2] or "object"
        return f"{PLACES[value.place]} model {last}" if value.model else last
    return type(value).__name__


def verify(code: str) -> None:
    """Compare what is found in a program, and what its values are, with what its comments say."""
    text = HEAD + textwrap.dedent(code)
    seen: dict[int, set[str]] = {}

    def probe(_: Machine, __: str, arguments: Arguments) -> Value:
        seen.setdefault(int(arguments.node.lineno or 0), set()).add(told(arguments.get(0)))
        return NONE

    FUNCTIONS.register(PROBE, probe)
    try:
        symbols = default_symbols() | {"xla-late-read"}
        found = check_module(parse(text, "train.py"), Project(), Settings(), symbols)
    finally:
        FUNCTIONS.remove(PROBE)
    claims = {n: {match[1]} for n, line in enumerate(text.splitlines(), 1) if (match := CLAIM.search(line))}
    assert seen == claims
    assert {(int(finding.node.lineno or 0), finding.rule.symbol) for finding in found} == expected(text)
