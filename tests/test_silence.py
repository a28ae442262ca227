"""Code that only looks like a pitfall: nothing may be said of it."""

from __future__ import annotations

import textwrap

import pytest

from xla_lint.engine import Settings, check_module, default_symbols
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import parse

CASES = {
    "a number that other objects of a class set, and a method counts which nothing calls": """
        import torch, torch_xla
        from torch import nn
        device = torch_xla.device()
        class Cache:
            def __init__(self):
                self.k = torch.zeros(1, 64, 8, device=device)
                self.used = 0
            def past(self, new):
                return new if self.used == 0 else torch.cat((self.k[:, : self.used], new), 1)
            def prefill(self, k):
                self.used = k.shape[1]
            def update(self, k):
                self.used += 1
        model = nn.Linear(8, 8).to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(10):
            optimizer.zero_grad()
            y = model(torch.ones(1, 4, 8, device=device))
            Cache().prefill(y)
            y.sum().backward()
            optimizer.step()
            torch_xla.sync()
        caches, x = [Cache() for _ in range(3)], torch.ones(1, 1, 8, device=device)
        for _ in range(10):
            for cache in caches:
                x = cache.past(model(x))
            torch_xla.sync()
        """,
    "one step in a function without a caller, which builds the optimizer anew": """
        import torch, torch_xla
        def test_one_step():
            device = torch_xla.device()
            model = torch.nn.Linear(4, 4).to(device)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            loss = model(torch.ones(2, 4).to(device)).sum()
            loss.backward()
            optimizer.step()
            assert loss.item() == loss.item()
        """,
    "schedules made for the steps of the prepared loader": """
        import math, torch
        from accelerate import Accelerator
        from torch.optim.lr_scheduler import CosineAnnealingLR, OneCycleLR
        from torch.utils.data import DataLoader, TensorDataset
        from transformers import get_cosine_schedule_with_warmup
        accelerator = Accelerator()
        model = torch.nn.Linear(8, 8)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        rows = DataLoader(TensorDataset(torch.randn(64, 8)), batch_size=8, drop_last=True)
        model, optimizer, loader = accelerator.prepare(model, optimizer, rows)
        steps = math.ceil(len(loader) / 2)
        schedules = [
            get_cosine_schedule_with_warmup(optimizer, 10, 3 * len(loader)),
            OneCycleLR(optimizer, max_lr=0.1, epochs=3, steps_per_epoch=len(loader)),
            CosineAnnealingLR(optimizer, T_max=steps * 3),
        ]
        first, second, third = schedules
        for (x,) in loader:
            accelerator.backward(model(x).pow(2).mean())
            optimizer.step()
            first.step()
            second.step()
            third.step()
            optimizer.zero_grad()
        """,
    "a decision that all replicas of Accelerate have gathered": """
        import torch
        from accelerate import Accelerator
        from torch.utils.data import DataLoader, TensorDataset
        accelerator = Accelerator()
        model = torch.nn.Linear(8, 8)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        loader = DataLoader(TensorDataset(torch.randn(64, 8)), batch_size=8, drop_last=True)
        model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
        for (x,) in loader:
            loss = model(x).pow(2).mean()
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
        best = accelerator.gather(loss).mean().item()
        if best < 0.5:
            accelerator.wait_for_everyone()
            accelerator.save_state("out")
        total = accelerator.reduce({"loss": loss})
        if total["loss"].item() < 0.5:
            accelerator.wait_for_everyone()
        """,
    "rows that are padded again when the batch is put together": """
        import torch_xla
        from torch.utils.data import DataLoader
        from transformers import AutoModel, AutoTokenizer, DataCollatorWithPadding
        from torch_xla.distributed.parallel_loader import MpDeviceLoader
        tokenizer = AutoTokenizer.from_pretrained("m")
        device = torch_xla.device()
        model = AutoModel.from_pretrained("m").to(device)
        rows = rows.map(lambda row: tokenizer(row["text"], padding=True, max_length=64, truncation=True), batched=True)
        collate = DataCollatorWithPadding(tokenizer, padding="max_length", max_length=64)
        for batch in MpDeviceLoader(DataLoader(rows, 8, collate_fn=collate, drop_last=True), device):
            model(**batch)
        """,
    "the last batch of an evaluation, cut to the rows that there are": """
        import torch, torch_xla
        from rows import Rows
        from torch.utils.data import DataLoader
        from torch_xla.distributed.parallel_loader import MpDeviceLoader
        device = torch_xla.device()
        model = torch.nn.Linear(8, 8).to(device)
        loader = MpDeviceLoader(DataLoader(Rows(), batch_size=8, drop_last=True, num_workers=2), device)
        seen, found = 0, []
        for step, x in enumerate(loader):
            with torch.no_grad():
                predicted = model(x)
            if step == len(loader) - 1:
                predicted = predicted[: 60 - seen]
            seen += 8
            found.append(predicted)
        """,
    "a training loop that stays on the host": """
        import torch, torch_xla
        from torch import nn
        model = nn.Linear(2, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            loss = model(torch.randn(2, 2)).sum()
            loss.backward()
            optimizer.step()
            print(loss.item())
        """,
    "the other branch of a flag that stands for XLA": """
        import torch
        class Trainer:
            def __init__(self, use_xla, model, loader):
                self.use_xla = use_xla
                if self.use_xla:
                    import torch_xla
                    self.device = torch_xla.device()
                else:
                    self.device = torch.device("cuda")
                self.model = model.to(self.device)
                self.optimizer = torch.optim.SGD(self.model.parameters(), 0.1)
                self.loader = loader
            def fit(self):
                for x in self.loader:
                    loss = self.model(x.to(self.device)).sum()
                    loss.backward()
                    self.optimizer.step()
                    if not self.use_xla:
                        print(loss.item())
        """,
    "an optimizer of a wrapper around a model that was moved before": """
        import torch, torch_xla
        from torch import nn
        class Distilled(nn.Module):
            def __init__(self, student):
                super().__init__()
                self.student = student
        def fit(options):
            device = torch_xla.device()
            student = None
            if options.small:
                student = nn.Linear(2, 2).to(device)
            wrapper = Distilled(student)
            optimizer = torch.optim.SGD(wrapper.parameters(), lr=0.1)
            wrapper.to(device)
            return optimizer
        """,
    "the other branch of a test on the backend's name": """
        import torch
        class Trainer:
            def __init__(self, backend, model, loader):
                self.backend = backend
                if self.backend == "xla":
                    import torch_xla
                    self.device = torch_xla.device()
                else:
                    self.device = torch.device("cuda")
                self.model = model.to(self.device)
                self.optimizer = torch.optim.SGD(self.model.parameters(), 0.1)
                self.loader = loader
            def fit(self):
                for x in self.loader:
                    loss = self.model(x.to(self.device)).sum()
                    loss.backward()
                    self.optimizer.step()
                    if self.backend != "xla":
                        print(loss.item())
        """,
    "an unknown model that is given host tensors": """
        import torch, torch_xla
        class Service:
            def __init__(self, model):
                self.model = model
                self.model.eval()
            def predict(self, rows):
                for row in rows:
                    with torch.no_grad():
                        mean = self.model(torch.FloatTensor(row).unsqueeze(0))["mean"]
                    print(mean.numpy())
                return sum(p.numel() for p in self.model.parameters())
        """,
    "a function that another script launches": """
        import torch_xla
        from transformers import Trainer
        def train(index):
            Trainer(model=None).train()
        if __name__ == "__main__":
            train()
        """,
    "a read on the way out of the loop": """
        import torch, torch_xla
        device = torch_xla.device()
        model = torch.nn.Linear(2, 2).to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        def fit(limit):
            for step in range(limit):
                optimizer.zero_grad()
                loss = model(torch.ones(2, 2, device=device)).sum()
                loss.backward()
                optimizer.step()
                if step == limit - 1:
                    print("done", loss.item())
                    return
                torch_xla.sync()
        """,
    "one row padded by a dataset": """
        import torch_xla
        from transformers import AutoTokenizer
        tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
        class Rows:
            def __init__(self, texts):
                self.texts = texts
            def __getitem__(self, i):
                return tokenizer(self.texts[i], padding="longest")
        """,
    "the longest row of all the data, once": """
        import torch, torch_xla
        from torch import nn
        ROWS = [[1, 2], [3], [4, 5, 6]]
        longest = max(len(row) for row in ROWS)
        device = torch_xla.device()
        model = nn.Embedding(9, 4).to(device)
        for row in ROWS:
            ids = torch.zeros(1, longest, dtype=torch.long, device=device)
            model(ids).sum().backward()
            torch_xla.sync()
        """,
    "a dataset that yields for ever": """
        import torch, torch_xla
        import torch_xla.distributed.parallel_loader as pl
        from torch.utils.data import DataLoader, IterableDataset
        class Endless(IterableDataset):
            def __iter__(self):
                while True:
                    yield torch.zeros(4)
        model = torch.nn.Linear(4, 4).to(torch_xla.device())
        for x in pl.MpDeviceLoader(DataLoader(Endless(), batch_size=8), torch_xla.device()):
            model(x).sum().backward()
        """,
    "a total that starts anew in every step": """
        import torch, torch_xla
        from torch import nn
        class Deep(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))
                self.penalty = 0
            def forward(self, x):
                self.penalty = 0
                for layer in self.layers:
                    x = layer(x)
                    self.penalty = self.penalty + x.square().mean()
                return x
        device = torch_xla.device()
        model = Deep().to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(5):
            optimizer.zero_grad()
            (model(torch.randn(2, 4, device=device)).sum() + model.penalty).backward()
            optimizer.step()
            torch_xla.sync()
        """,
    "a half-precision test of GPUs": """
        import torch, torch_xla
        from torch import nn
        class Layer(nn.Module):
            def forward(self, x):
                if x.dtype == torch.float16 and torch.isinf(x).any():
                    x = x.clamp(-1, 1)
                return x
        """,
}


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_said(name: str) -> None:
    module = parse(textwrap.dedent(CASES[name]), "train.py")
    findings = check_module(module, Project(), Settings(), default_symbols() - {"xla-unwrapped-loader"})
    assert [finding.message for finding in findings] == []


ADVICE = {
    "a sampler that does not shuffle": (
        "xla-sampler-without-epoch",
        """
        import torch
        import torch_xla
        import torch_xla.distributed.parallel_loader as pl
        from torch.utils.data import DataLoader, DistributedSampler
        def fit(rows, replicas, rank):
            device = torch_xla.device()
            model = torch.nn.Linear(2, 2).to(device)
            sampler = DistributedSampler(rows, num_replicas=replicas, rank=rank, shuffle=False)
            loader = DataLoader(rows, batch_size=4, sampler=sampler, num_workers=2, drop_last=True)
            for _ in range(3):
                for x in pl.MpDeviceLoader(loader, device):
                    model(x).sum().backward()
        """,
    ),
    "a barrier after a call that cannot be followed": (
        "xla-redundant-sync",
        """
        import torch, torch_xla
        device = torch_xla.device()
        model = torch.nn.Linear(2, 2).to(device)
        def fit(engine):
            for _ in range(3):
                model(torch.ones(2, 2, device=device)).sum().backward()
                torch_xla.sync()
                engine.run_train()
                torch_xla.sync()
        """,
    ),
    "a transform beside a script that trains": (
        "xla-missing-mp-fn",
        """
        import datasets, torch_xla
        from transformers import Trainer
        def transformed(rows):
            return rows
        def prepared(rows):
            return rows.with_transform(lambda some: transformed(some))
        if __name__ == "__main__":
            rows = datasets.load_dataset("beans")["train"]
            rows = prepared(rows.map(lambda some: transformed(some)))
            Trainer(model="m", train_dataset=rows).train()
        """,
    ),
    "rows that are chosen by number": (
        "xla-ragged-batch",
        """
        import torch, torch_xla
        from datasets import load_dataset
        from torch import nn
        from torch.utils.data import DataLoader
        from torch_xla.distributed.parallel_loader import MpDeviceLoader
        device = torch_xla.device()
        model = nn.Linear(2, 2).to(device)
        rows = load_dataset("rows").map(print, batched=True)["train"].shuffle(seed=1).select(range(1000))
        for x in MpDeviceLoader(DataLoader(rows.with_format("torch"), batch_size=8), device):
            model(x["x"]).sum().backward()
        part = load_dataset("rows", split="test").select(range(20, 100, 2)).rename_column("a", "b")
        for x in MpDeviceLoader(DataLoader(part, batch_size=20), device):
            model(x["x"]).sum().backward()
        """,
    ),
}


@pytest.mark.parametrize("name", ADVICE)
def test_no_advice_is_given(name: str) -> None:
    symbol, source = ADVICE[name]
    assert check_module(parse(textwrap.dedent(source), "train.py"), Project(), Settings(), [symbol]) == []


HARD = {
    "a loop that never turns": "import torch_xla\nx = None\nwhile x is not None:\n    x = x.next\n",
    "values nested more and more deeply": "import torch_xla\n"
    + "\n".join(f"def f{i}(x):\n    return f{i + 1}(x), f{i + 1}(x)" for i in range(40))
    + "\ndef f40(x):\n    return x\nf0(1)\n",
    "functions in a ring": "import torch_xla\n"
    + "\n".join(f"def g{i}(x):\n    return g{(i + 1) % 500}(x) + g{(i + 7) % 500}(x)" for i in range(500))
    + "\ng0(1)\n",
}


@pytest.mark.parametrize("name", HARD)
def test_hard_code_ends(name: str) -> None:
    assert check_module(parse(HARD[name], "train.py"), Project(), Settings(), default_symbols()) == []
