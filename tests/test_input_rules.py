"""Loaders, samplers and host tensors, and gradients that are never zeroed: judged by object and by path."""

from __future__ import annotations

import textwrap

import pytest

from tests.test_fixtures import expected
from xla_lint.engine import Settings, check_module
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import parse

SYMBOLS = frozenset(
    {
        "xla-exhausted-loader",
        "xla-host-tensor",
        "xla-missing-sampler",
        "xla-missing-sync",
        "xla-missing-zero-grad",
        "xla-sampler-without-epoch",
        "xla-sampler-without-rank",
        "xla-unwrapped-loader",
    }
)
HEAD = """\
import itertools
import torch, torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.parallel_loader as pl
import torch_xla.runtime as xr
from elsewhere import build, tell
from torch import nn
from torch.nn.functional import mse_loss
from torch.utils import data

device = torch_xla.device()
rows = data.TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
weighted = data.TensorDataset(torch.randn(64, 4), torch.randn(64, 1), torch.rand(64))
model = nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def host(**options):
    return data.DataLoader(rows, batch_size=8, drop_last=True, **options)

def fit(loader):
    for x, y in loader:
        optimizer.zero_grad()
        mse_loss(model(x), y).backward()
        xm.optimizer_step(optimizer)

"""


def agrees(code: str) -> None:
    text = HEAD + textwrap.dedent(code)
    found = check_module(parse(text, "train.py"), Project(), Settings(), SYMBOLS)
    assert {(int(finding.node.lineno or 0), finding.rule.symbol) for finding in found} == expected(text)


SAMPLERS = {
    "batches of all rows": ("data.BatchSampler(data.SequentialSampler(rows), 8, True)", True),
    "batches of random rows": ("data.BatchSampler(sampler=data.RandomSampler(rows), batch_size=8)", True),
    "rows drawn by weights": ("data.BatchSampler(data.WeightedRandomSampler(build(rows), len(rows)), 8, True)", True),
    "a part of the rows drawn by weights": (
        "data.BatchSampler(data.WeightedRandomSampler(build(rows), 64 // xr.world_size()), 8, True)",
        False,
    ),
    "rows drawn by weights of one's own": (
        "data.BatchSampler(data.WeightedRandomSampler(build(index), 64), 8, True)",
        False,
    ),
    "batches of one's own rows": ("data.BatchSampler(data.DistributedSampler(rows, 8, index), 8, True)", False),
    "batches of an unknown sampler": ("data.BatchSampler(build(rows), 8, True)", False),
    "an unknown sampler": ("build(rows)", False),
}


@pytest.mark.parametrize(("sampler", "whole"), SAMPLERS.values(), ids=SAMPLERS)
def test_samplers_of_batches(sampler: str, whole: bool) -> None:
    expect = "  # expect: xla-missing-sampler" if whole else ""
    agrees(
        f"""
        def worker(index):
            loader = data.DataLoader(rows, sampler=None, batch_sampler={sampler}){expect}
            fit(pl.MpDeviceLoader(loader, torch_xla.device()))

        torch_xla.launch(worker)
        """
    )


@pytest.mark.parametrize(
    ("statement", "whole"),
    [("json.dump({'rank': index}, file)", True), ("tell({'rank': index}, file)", False)],
)
def test_what_is_written_splits_no_rows(statement: str, whole: bool) -> None:
    expect = "  # expect: xla-missing-sampler" if whole else ""
    agrees(
        f"""
        import json

        def worker(index):
            loader = data.DataLoader(rows, batch_size=8, drop_last=True){expect}
            fit(pl.MpDeviceLoader(loader, torch_xla.device()))
            with open(str(index), "w") as file:
                {statement}

        torch_xla.launch(worker)
        """
    )


HUB = {
    "streamed": ("datasets.load_dataset('c4', split='train', streaming=True)", True),
    "a split, shuffled and mapped": ("datasets.load_dataset('imdb')['train'].shuffle(seed=1).map(build)", True),
    "files by name": ("datasets.load_dataset('webdataset', data_files={'train': 'a'}, split='train')", True),
    "the first rows": ("datasets.load_from_disk('rows').select(range(1000))", True),
    "what passes a filter": ("datasets.load_dataset('c4', streaming=True).filter(build).take(1000)", True),
    "split by node": ("split_dataset_by_node(datasets.load_dataset('c4', streaming=True), index, 8)", False),
    "a shard": ("datasets.load_dataset('c4')['train'].shard(8, index)", False),
    "rows by rank": ("datasets.load_dataset('c4')['train'].select(range(index, 1000, 8))", False),
    "rows after others": ("datasets.load_dataset('c4', streaming=True).skip(index * 100).take(100)", False),
    "a slice by rank": ("datasets.load_dataset('c4', split=f'train[{index}0%:]')", False),
    "unknown rows": ("datasets.load_dataset('c4')['train'].select(build(8))", False),
    "unknown files": ("datasets.load_dataset('json', data_files=build(8), split='train')", False),
    "a filter by place": ("datasets.load_dataset('c4').filter(build, with_indices=True)", False),
    "several of them": ("datasets.interleave_datasets([datasets.load_dataset('c4'), build(8)])", False),
}


@pytest.mark.parametrize(("made", "whole"), HUB.values(), ids=HUB)
def test_datasets_of_the_hub(made: str, whole: bool) -> None:
    expect = "  # expect: xla-missing-sampler" if whole else ""
    agrees(
        f"""
        import datasets
        from datasets.distributed import split_dataset_by_node

        def worker(index):
            table = {made}
            loader = data.DataLoader(table, batch_size=8, drop_last=True){expect}
            fit(pl.MpDeviceLoader(loader, torch_xla.device()))

        torch_xla.launch(worker)
        """
    )


EPOCHS = {
    "a sibling tells another loop": """
        for epoch in range(3):  # expect: xla-sampler-without-epoch
            fit(loader)
        for epoch in range(3):
            sampler.set_epoch(epoch)
            fit(loader)
    """,
    "another sampler is told": """
        for epoch in range(3):  # expect: xla-sampler-without-epoch
            other.set_epoch(epoch)
            fit(loader)
    """,
    "a helper tells": """
        def start(which, epoch):
            which.set_epoch(epoch)

        for epoch in range(3):
            start(sampler, epoch)
            fit(loader)
    """,
    "something unknown is told": """
        for epoch in range(3):
            build(sampler).set_epoch(epoch)
            fit(loader)
    """,
    "through the loader": """
        for epoch in range(3):
            loader._loader.sampler.set_epoch(epoch)
            fit(loader)
    """,
    "an outer loop tells": """
        for epoch in range(3):
            sampler.set_epoch(epoch)
            for again in range(2):
                fit(loader)
    """,
}


@pytest.mark.parametrize("body", EPOCHS.values(), ids=EPOCHS)
@pytest.mark.parametrize("given", ["sampler=sampler", "batch_sampler=data.BatchSampler(sampler, 8, True)"])
def test_epochs_of_a_sampler(body: str, given: str) -> None:
    agrees(
        f"""\
sampler = data.DistributedSampler(rows, 8, xr.global_ordinal())
other = data.DistributedSampler(rows, 8, xr.global_ordinal())
loader = pl.MpDeviceLoader(data.DataLoader(rows, {given}), device)
{textwrap.dedent(body)}"""
    )


ZEROED = {
    "never": ("", False),
    "by the optimizer": ("optimizer.zero_grad()", True),
    "by the model": ("model.zero_grad()", True),
    "by another optimizer": ("other_optimizer.zero_grad()", False),
    "by another model": ("other.zero_grad()", False),
    "by hand": ("for p in model.parameters():\n    p.grad = None", True),
    "in place": ("for p in model.parameters():\n    if p.grad is not None:\n        p.grad.zero_()", True),
    "in place of the data": ("for p in model.parameters():\n    p.grad.data.zero_()", True),
    "by deletion": ("for p in model.parameters():\n    del p.grad", True),
    "together": ("torch._foreach_zero_([p.grad for p in model.parameters()])", True),
    "by something unknown": ("build(optimizer).zero_grad()", True),
    "another tensor": ("seen = torch.zeros(3)\nseen.zero_()", False),
}


@pytest.mark.parametrize(("statement", "zeroed"), ZEROED.values(), ids=ZEROED)
def test_gradients_that_are_zeroed(statement: str, zeroed: bool) -> None:
    expect = "" if zeroed else "  # expect: xla-missing-zero-grad"
    body = textwrap.indent(statement, "    ")
    agrees(
        f"""\
other = nn.Sequential(nn.Linear(4, 1)).to(device)
other_optimizer = torch.optim.SGD(other.parameters(), lr=0.1)

def elsewhere():
    for p in model.parameters():
        p.grad = None

elsewhere()
for _ in range(3):{expect}
{body}
    model(torch.randn(2, 4, device=device)).mean().backward()
    optimizer.step()
    torch_xla.sync()
"""
    )


HOST_TENSORS = {
    "a list of constants": "w = torch.tensor([0.5, 1.0]).to(device)  # expect: xla-host-tensor",
    "a repeated list": "w = torch.tensor([0.5] * 4 + [1.0] * 4).to(device)  # expect: xla-host-tensor",
    "a nested list": "w = torch.tensor([[0, 1], [1, 0]]).to(device)  # expect: xla-host-tensor",
    "values of the step": "w = torch.tensor([0.5, step / 3]).to(device)",
    "unknown values": "w = torch.tensor([0.5, build()]).to(device)",
    "a range": "w = torch.arange(4).to(device)  # expect: xla-host-tensor",
    "a range that moves": "w = torch.arange(step, step + 4).to(device)",
    "a grid to an end that moves": "w = torch.linspace(0, step, 4).to(device)",
    "filled with constants": """
        w = torch.ones(8, 4)
        w[:, 0] = 0.0
        w = w.to(device)  # expect: xla-host-tensor
    """,
    "filled one by one": """
        w = torch.zeros(8)
        for i in range(4):
            w[i] = 1.0
        w = w.to(device)  # expect: xla-host-tensor
    """,
    "filled by the step": """
        w = torch.zeros(8)
        w[step] = 1.0
        w = w.to(device)
    """,
    "filled by the batch": """
        w = torch.ones(8)
        w[y[:, 0] > 0] = 2.0
        w = w.to(device)
    """,
    "scattered by the batch": """
        w = torch.zeros(8, 5)
        w.scatter_(1, y.long(), 1.0)
        w = w.to(device)
    """,
}


@pytest.mark.parametrize("body", HOST_TENSORS.values(), ids=HOST_TENSORS)
def test_tensors_built_on_the_host(body: str) -> None:
    lines = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    agrees(
        f"""\
for step, (x, y) in enumerate(host()):  # expect: xla-unwrapped-loader
{lines}
    optimizer.zero_grad()
    (model(x.to(device)) * w.mean()).mean().backward()
    optimizer.step()
    torch_xla.sync()
"""
    )


def test_a_batch_drawn_on_the_device_leaves_no_excuse() -> None:
    agrees(
        """
        def weights(place):
            return torch.tensor([0.5, 1.0]).to(place)  # expect: xla-host-tensor

        for _ in range(3):
            optimizer.zero_grad()
            (model(torch.randn(2, 4, device=device)) * weights(device)).mean().backward()
            optimizer.step()
            torch_xla.sync()
        """
    )


CHOICES = {
    "a test of the batch": ("if (y > 0).any():\n    seen += 1", False),
    "a test of a row's value": ("if y[0, 0] > 0:\n    continue", False),
    "a test of the loss": ("if seen > 3:\n    break", True),
    "a sum for a report": ("seen += int(y.sum())", True),
    "a sum of a part that is not moved": ("seen += int((w < 0.9).sum())", False),
    "a part of the batch in a list": ("names = w.tolist()", False),
    "an array": ("names = w.numpy()", False),
    "a part that meets what was fetched": ("seen += (model(x.to(device)).cpu() == w).sum().item()", True),
    "a sum for a report now and then": ("seen += 1\nif seen % 10 == 0:\n    print(w.sum())", True),
}


@pytest.mark.parametrize(("statement", "reported"), CHOICES.values(), ids=CHOICES)
def test_batches_that_the_host_chooses_by(statement: str, reported: bool) -> None:
    expect = "  # expect: xla-unwrapped-loader" if reported else ""
    body = textwrap.indent(statement, "    ")
    agrees(
        f"""\
seen = 0
for x, y, w in data.DataLoader(weighted, batch_size=8, drop_last=True):{expect}
{body}
    x, y = x.to(device), y.to(device)
    optimizer.zero_grad()
    mse_loss(model(x), y).backward()
    optimizer.step()
    torch_xla.sync()
"""
    )


def test_batches_that_are_moved_once() -> None:
    agrees(
        """\
        kept = []
        for x, y in host():
            kept.append((x.to(device), y.to(device)))
        for x, y in kept + [(x.to(device), y.to(device)) for x, y in host()]:
            optimizer.zero_grad()
            mse_loss(model(x), y).backward()
            optimizer.step()
            torch_xla.sync()
        """
    )


GENERATORS = {
    "all at once": "    yield from loader",
    "for ever": "    while True:\n        yield from loader",
    "one by one": "    while True:\n        for batch in loader:\n            yield batch",
}


@pytest.mark.parametrize("body", GENERATORS.values(), ids=GENERATORS)
@pytest.mark.parametrize("wrapped", [True, False])
def test_generators_around_loaders(body: str, wrapped: bool) -> None:
    loader = "pl.MpDeviceLoader(host(), device)" if wrapped else "[torch.randn(2, 4, device=device)]"
    expect = "" if wrapped else "  # expect: xla-missing-sync"
    agrees(
        f"""\
def batches(loader):
{body}

for x in itertools.islice(batches({loader}), 5):{expect}
    optimizer.zero_grad()
    model(x[0]).mean().backward()
    xm.optimizer_step(optimizer)
"""
    )


STREAMS = {
    "lines of a file": ("for line in open(self.path):\n    yield torch.tensor([float(n) for n in line.split()])", True),
    "numbers": ("for n in range(self.count):\n    yield torch.full((4,), float(n))", True),
    "a helper of its own": ("yield from read(self.path)", True),
    "its part by rank": ("for n in range(xr.global_ordinal(), 64, 8):\n    yield torch.full((4,), float(n))", False),
    "its part by worker": ("info = data.get_worker_info()\nyield torch.ones(4)", False),
    "a helper that shards": ("yield from part_of(self.path)", False),
    "what is not in sight": ("for row in self.source:\n    yield torch.tensor(row)", False),
}


@pytest.mark.parametrize(("body", "whole"), STREAMS.values(), ids=STREAMS)
def test_streams_that_every_replica_walks(body: str, whole: bool) -> None:
    expect = "  # expect: xla-missing-sampler" if whole else ""
    lines = textwrap.indent(body, "        ")
    agrees(
        f"""\
def read(path):
    for line in open(path):
        yield torch.tensor([float(line)] * 4)

def part_of(path):
    yield from itertools.islice(read(path), xr.global_ordinal(), None, xr.world_size())

class Lines(data.IterableDataset):
    def __init__(self, path, source, count=64):
        self.path, self.source, self.count = path, source, count

    def __iter__(self):
{lines}

def worker(index):
    loader = data.DataLoader(Lines("rows.txt", build()), batch_size=8, drop_last=True){expect}
    for x in pl.MpDeviceLoader(loader, device):
        optimizer.zero_grad()
        model(x).mean().backward()
        xm.optimizer_step(optimizer)

torch_xla.launch(worker)
"""
    )


CONSTANTS = {
    "ones that are reduced": ("torch.ones((2, 3)).to(device)", "xm.all_reduce(xm.REDUCE_SUM, {})", True),
    "numbers that are added up": ("torch.full((2, 3), 0.5).to(device)", "{}.sum()", True),
    "random numbers": ("torch.randn(2, 3).to(device)", "xm.all_reduce(xm.REDUCE_SUM, {})", False),
    "what a model runs on": ("torch.ones(2, 4).to(device)", "model({})", False),
    "what changes": ("torch.full((2, 3), float(step)).to(device)", "{} + 1", False),
}


@pytest.mark.parametrize(("made", "used", "reported"), CONSTANTS.values(), ids=CONSTANTS)
def test_constants_that_are_no_batch(made: str, used: str, reported: bool) -> None:
    expect = "  # expect: xla-host-tensor" if reported else ""
    agrees(
        f"""
for step in range(100):
    x = {made}{expect}
    result = {used.format("x")}
    torch_xla.sync()
    print(result.cpu())
"""
    )


ROWS = {
    "drawn whatever the number": ("start = torch.randint(9, (1,)).item()", False),
    "of the number": ("start = number + random.random()", True),
    "of a counter": ("start = self.next()", True),
}


@pytest.mark.parametrize(("made", "whole"), ROWS.values(), ids=ROWS)
def test_datasets_that_draw_their_rows(made: str, whole: bool) -> None:
    expect = "  # expect: xla-missing-sampler" if whole else ""
    agrees(
        f"""
        import random

        class Rows(data.Dataset):
            def __len__(self):
                return 9

            def next(self):
                return self.count

            def __getitem__(self, number):
                {made}
                return torch.ones(4) * start, torch.ones(1)

        def worker(index):
            model = nn.Linear(4, 1).to(device)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            loader = data.DataLoader(Rows(), batch_size=8, drop_last=True){expect}
            for x, y in pl.MpDeviceLoader(loader, device):
                optimizer.zero_grad()
                mse_loss(model(x), y).backward()
                xm.optimizer_step(optimizer)

        torch_xla.launch(worker)
        """
    )
