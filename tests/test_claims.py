"""What is said of a program is true of it: how often something happens, what it costs, what is left alone."""

from __future__ import annotations

import textwrap

import pytest

from tests.test_fixtures import expected
from xla_lint.engine import Settings, check_module, default_symbols
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import parse
from xla_lint.rules.base import Confidence, Finding

HEAD = """\
import math, os
import torch, torch_xla, wandb
import torch_xla.core.xla_model as xm
import torch_xla.distributed.parallel_loader as pl
from torch import nn
from torch.utils.data import DataLoader, RandomSampler, TensorDataset, WeightedRandomSampler

device = torch_xla.device()
model = nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def update(x):
    optimizer.zero_grad()
    loss = model(x).mean()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    return loss.detach()

"""
FREQUENCY = {
    "two remainders of one count": """
        for step in range(90):
            loss = update(torch.ones(2, 4, device=device))
            if step % 10 == 0 or step % 10 == 5:
                print(loss)  # expect: xla-periodic-read
            if step % 10 in (0, 5):
                print(loss)  # expect: xla-periodic-read
            if step % 7 == 0 and step % 3 == 0:
                print(loss)  # expect: xla-periodic-read
    """,
    "remainders of two counts": """
        for step in range(90):
            loss = update(torch.ones(2, 4, device=device))
            if (step * 2) % 16 > ((step + 1) * 2) % 16:
                print(loss)  # expect: xla-periodic-read
            if (step + 1) * 2 % 16 < step * 2 % 16:
                print(loss)  # expect: xla-periodic-read
            if 0 == step % 16:
                print(loss)  # expect: xla-periodic-read
            if 0 < step % 16:
                print(loss)  # expect: xla-late-read
    """,
    "quotients": """
        last, every = -1, int(os.environ["EVERY"])
        for step in range(90):
            loss = update(torch.ones(2, 4, device=device))
            if (step + 1) * 2 // every > step * 2 // every:
                print(loss)  # expect: xla-periodic-read
            if step // every != last:
                last = step // every
                print(loss)  # expect: xla-periodic-read
            if step // every == (step - 1) // every:
                continue
            print(loss)  # expect: xla-periodic-read
    """,
    "an interval of one is none": """
        EVERY = 1
        for step in range(90):
            loss = update(torch.ones(2, 4, device=device))
            if step % 1 == 0:
                print(loss)  # expect: xla-late-read
            if (step + 1) % EVERY == 0:
                print(loss)  # expect: xla-late-read
            if not step % EVERY:
                print(loss)  # expect: xla-late-read
    """,
    "what happens once in a loop": """
        for epoch in range(9):
            for step in range(90):
                loss = update(torch.ones(2, 4, device=device))
                if step == 10:
                    print(loss)
                if step + 1 == 90:
                    print(loss)
                first = step == 0
                if first:
                    print(loss)
                if step != 0:
                    print(loss)  # expect: xla-late-read
                if step == 0 or step % 10 == 0:
                    print(loss)  # expect: xla-periodic-read
                if epoch == 0:
                    print(loss)  # expect: xla-periodic-read
    """,
    "the batch that a hook is called with": """
        import lightning
        class Show(lightning.Callback):
            def on_validation_batch_end(self, trainer, module, outputs, batch, batch_idx):
                if batch_idx == 0:
                    print(outputs)
                if trainer.global_step == 5:
                    print(outputs)
                if batch_idx % 10 == 0:
                    print(outputs)  # expect: xla-periodic-read
                print(outputs)  # expect: xla-print-tensor
            def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
                print(outputs)  # expect: xla-late-read
            def on_before_backward(self, trainer, module, loss):
                print(loss)  # expect: xla-print-tensor
    """,
    "micro-steps in a loop of their own": """
        def train(accumulate, rows):
            batches = iter(rows)
            for _ in range(90):
                for _ in range(accumulate):  # expect: xla-missing-sync
                    model(torch.ones(2, 4, device=device)).mean().backward()
                optimizer.step()
                torch_xla.sync()
            for _ in range(90):
                for x in [next(batches) for _ in range(accumulate)]:  # expect: xla-missing-sync
                    (model(x.to(device)).mean() / accumulate).backward()
                xm.optimizer_step(optimizer, barrier=True)
            for _ in range(90):
                for _ in range(accumulate):
                    model(torch.ones(2, 4, device=device)).mean().backward()
                    torch_xla.sync()
                optimizer.step()
                torch_xla.sync()
            for _ in range(90):
                for _ in range(4):
                    model(torch.ones(2, 4, device=device)).mean().backward()
                optimizer.step()
                torch_xla.sync()
    """,
}
COSTS = {
    "a model compiled for the device runs when it is called": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(4, 4)
            def forward(self, x):
                return self.layer(x)
        net = Net().to(device).eval()
        net.compile(backend="openxla")
        fast = torch.compile(model, backend="openxla")
        with torch.no_grad():
            for _ in range(90):
                print(net(torch.ones(2, 4, device=device)))  # expect: xla-late-read
            for _ in range(90):
                y = fast(torch.ones(2, 4, device=device))
                print(y)  # expect: xla-late-read
                y.argmax(-1).item()  # expect: xla-value-read
    """,
    "what the host fetches and keeps is not carried on": """
        with torch.no_grad():
            x = torch.ones(2, 4, device=device)
            for _ in range(90):
                x = model(x)
                print(x.cpu())  # expect: xla-value-read
            for _ in range(90):  # expect: xla-missing-sync
                x = model(x)
                x.sum().item()  # expect: xla-value-read
    """,
    "a sequence that grows until a number says so": """
        ids = torch.ones(1, 4, device=device)
        with torch.no_grad():
            while ids.shape[0] < 50:  # expect: xla-missing-sync
                token = model(ids[:1])
                ids = torch.cat([ids, token])  # expect: xla-growing-tensor
                if token.tolist()[0][0] == 2:  # expect: xla-value-read
                    break
    """,
    "a barrier before the optimizer step of every few micro-steps": """
        for i, x in enumerate(loader):
            model(x).mean().backward()
            if (i + 1) % 4 == 0:
                torch_xla.sync()  # expect: xla-split-step
                optimizer.step()
                optimizer.zero_grad()
    """,
    "a barrier under one test and the step under its like": """
        for i, x in enumerate(loader):
            last = (i + 1) % 4 == 0
            model(x).mean().backward()
            if last:
                xm.mark_step()  # expect: xla-split-step, xla-deprecated-api
            if last:
                xm.optimizer_step(optimizer)
                optimizer.zero_grad()
    """,
    "a barrier and a step that seldom meet": """
        for i, x in enumerate(loader):
            loss = model(x).mean()
            loss.backward()
            if i % 10 == 0:
                torch_xla.sync()
                print(i)
            if i % 4 == 0:
                optimizer.step()
                optimizer.zero_grad()
    """,
    "a barrier after each micro-step": """
        for i, x in enumerate(DataLoader([torch.ones(4)] * 8)):
            model(x.to(device)).mean().backward()
            torch_xla.sync()
            if (i + 1) % 4 == 0:
                optimizer.step()
                torch_xla.sync()
                optimizer.zero_grad()
    """,
    "a barrier after the forward pass of a framework": """
        import lightning
        class Net(lightning.LightningModule):
            def training_step(self, batch, batch_idx):
                loss = model(batch).mean()
                torch_xla.sync()  # expect: xla-split-step
                return loss
            def test_step(self, batch, batch_idx):
                loss = model(batch).mean()
                torch_xla.sync()
                return loss
        class ByHand(lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.automatic_optimization = False
            def training_step(self, batch, batch_idx):
                loss = model(batch).mean()
                self.manual_backward(loss)
                torch_xla.sync()
    """,
    "the loaders of a framework": """
        import lightning
        class Rows(lightning.LightningDataModule):
            def train_dataloader(self):
                return DataLoader(self.rows, batch_size=8)  # expect: xla-ragged-batch
            def val_dataloader(self):
                short = DataLoader(self.rows, batch_size=8)  # expect: xla-ragged-batch
                return [short, DataLoader(self.rows, 8, drop_last=True)]
        more = DataLoader(rows, batch_size=8)  # expect: xla-ragged-batch
        lightning.Trainer(accelerator="tpu").fit(model, train_dataloaders=more)
        other = DataLoader(rows, batch_size=8)
    """,
    "how many rows a sampler draws": """
        steps = int(os.environ["STEPS"])
        class Endless:
            def __iter__(self):
                while True:
                    yield 0
        number = len(weights)
        samplers = [
            DataLoader(rows, batch_size=4, sampler=RandomSampler(rows, True, 10**9)),
            DataLoader(rows, batch_size=4, sampler=RandomSampler(rows, replacement=True, num_samples=4 * steps)),
            DataLoader(rows, batch_size=4, sampler=WeightedRandomSampler(weights, 400)),
            DataLoader(rows, batch_size=4, sampler=Endless()),
            DataLoader(rows, batch_size=4, sampler=RandomSampler(rows)),  # expect: xla-ragged-batch
            DataLoader(rows, batch_size=4, sampler=WeightedRandomSampler(weights, 402)),  # expect: xla-ragged-batch
            DataLoader(rows, batch_size=4, sampler=WeightedRandomSampler(weights, number)),  # expect: xla-ragged-batch
        ]
        for loader in samplers:
            for x in pl.MpDeviceLoader(loader, device):
                update(x)
    """,
    "a loader behind an iterator": """
        class Batches:
            def __init__(self):
                self.loader = DataLoader(rows, batch_size=4)  # expect: xla-ragged-batch
            def __iter__(self):
                self.batches = iter(self.loader)
                return self
            def __next__(self):
                return next(self.batches)
        for x in Batches():
            update(x.to(device))
        first = next(iter(DataLoader(rows, batch_size=4))).to(device)
        for _ in range(9):
            update(first)
    """,
    "a meeting in every step": """
        for x in pl.MpDeviceLoader(DataLoader(rows, 4, drop_last=True), device):
            update(x)
            xm.rendezvous("step")  # expect: xla-costly-collective
        xm.rendezvous("end")
    """,
    "numbers that torch draws on the host": """
        for _ in range(90):
            x = torch.ones(2, 4, device=device)
            if torch.empty(1).uniform_(0, 1).item() > 0.5:  # expect: xla-host-random
                x = x + 1
            if torch.bernoulli(torch.tensor(0.5)).item():  # expect: xla-host-random
                x = x + 2
            if torch.rand(()) < 0.5:  # expect: xla-host-random
                x = x + 3
            update(x)
    """,
    "a generator over a loader that can be walked once": """
        def pairs(loader):
            for x in loader:
                yield x, x
        batches = pl.ParallelLoader(DataLoader(rows, 4, drop_last=True), [device]).per_device_loader(device)
        for x, y in pairs(batches):
            update(x)
    """,
    "a name of another scope": """
        def show(path):
            for loss in open(path):
                print(f"{loss}")
                update(torch.ones(2, 4, device=device))
        def inner():
            loss = model(torch.ones(2, 4, device=device)).mean()
            loss.backward()
        for line in open("losses"):
            loss = line.get("loss")
            print(f"{loss}")
            update(torch.ones(2, 4, device=device))
    """,
    "the batch of a trainer is a dict": """
        import transformers
        class Mine(transformers.Trainer):
            def compute_loss(self, model, inputs, return_outputs=False):
                kept = {k: v for k, v in inputs.items() if k.startswith("input") or k in ("labels",)}
                for name in inputs:
                    if name.endswith("ids"):
                        print(name)
                labels = inputs.pop("labels")
                print(labels)  # expect: xla-late-read
                loss = model(**kept).loss
                if loss > 1:  # expect: xla-tensor-branch
                    loss = loss * 2
                return loss
    """,
    "autocast and a scaler that an option of other devices asks for": """
        def train(args, rows):
            if args.device == "xla":
                place = torch_xla.device()
            else:
                place = torch.device("cuda")
            net = nn.Linear(4, 4).to(place)
            sgd = torch.optim.SGD(net.parameters(), lr=0.1)
            scaler = torch.amp.GradScaler("cuda") if args.fp16 else None
            if args.amp:
                scaler = torch.cuda.amp.GradScaler()
            for x in rows:
                with torch.cuda.amp.autocast(enabled=args.amp):
                    loss = net(x.to(place)).mean()
                if scaler is not None:
                    scaler.scale(loss).backward()
                    scaler.step(sgd)
                else:
                    loss.backward()
                    sgd.step()
                torch_xla.sync()
    """,
}


def findings(code: str) -> tuple[str, list[Finding]]:
    """The whole text of a program, and what is found in it."""
    text = HEAD + textwrap.dedent(code)
    symbols = default_symbols() | {"xla-late-read"}
    return text, check_module(parse(text, "train.py"), Project(), Settings(), symbols)


@pytest.mark.parametrize("code", [*FREQUENCY.values(), *COSTS.values()], ids=[*FREQUENCY, *COSTS])
def test_case(code: str) -> None:
    text, found = findings(code)
    places = {(int(finding.node.lineno or 0), finding.rule.symbol) for finding in found}
    assert {place for place in places if place[1] != "xla-unwrapped-loader"} == expected(text)


def test_a_test_that_the_source_does_not_decide_makes_a_finding_less_sure() -> None:
    _, found = findings("""
        for step in range(90):
            loss = update(torch.ones(2, 4, device=device)) * 2
            print(loss.sum())
            if os.environ.get("SHOW"):
                print(loss.min())
            try:
                print(loss.max())
            except ValueError:
                print(loss.mean())
            if step % 10 == 0:
                print(loss.std())
            shown = loss.prod().item() if os.environ.get("SHOW") else 0
    """)
    sureness = [finding.confidence for finding in found]
    high, maybe = Confidence.HIGH, Confidence.CONTROL_FLOW
    assert sureness == [high, maybe, high, maybe, high, maybe]


def message(code: str) -> str:
    """The only message about a program."""
    _, found = findings(code)
    (only,) = [finding for finding in found if finding.rule.symbol != "xla-unwrapped-loader"]
    return only.message


def test_all_tensors_of_a_place_are_named() -> None:
    text = message("""
        for step in range(90):
            loss = update(torch.ones(2, 4, device=device)) * 2
            other = loss + 1
            print(f"{step}: {loss:.3f} {other} {step * 2}")
    """)
    assert text.startswith("'loss' and 'other' are formatted by f-string")


@pytest.mark.parametrize(
    "call", ['wandb.log({"loss": loss, "step": step})', "wandb.log(dict(loss=loss))", '"%s %d".format(step, loss)']
)
def test_the_tensor_is_named_and_not_what_holds_it(call: str) -> None:
    text = message(f"""
        for step in range(90):
            loss = update(torch.ones(2, 4, device=device)) * 2
            {call}
    """)
    assert text.startswith("'loss' is formatted by ")


def test_what_evaluation_reads_is_to_be_collected() -> None:
    text = message("""
        with torch.no_grad():
            for x in pl.MpDeviceLoader(DataLoader(rows, 4, drop_last=True), device):
                print(model(x).argmax(-1).cpu())
    """)
    assert text.endswith("collect the results on the device, and fetch them once after the loop")


def test_the_last_batch_of_an_evaluation_is_to_be_padded() -> None:
    text = message("""
        with torch.no_grad():
            for x in pl.MpDeviceLoader(DataLoader(rows, 4, drop_last=False), device):
                model(x)
    """)
    assert "(drop_last is False)" in text
    assert "pad it to the size of the others" in text


def test_a_compiled_model_in_a_training_step_is_called_by_its_name() -> None:
    text = message("""
        fast = torch.compile(model, backend="openxla")
        for _ in range(90):
            optimizer.zero_grad()
            loss = fast(torch.ones(2, 4, device=device)).mean()
            loss.backward()
            optimizer.step()
            torch_xla.sync()
    """)
    assert text.startswith("the compiled model runs where it is called,")


@pytest.mark.parametrize(
    ("made", "evened"),
    [
        ("Accelerator()", True),
        ("Accelerator(even_batches=False)", False),
        ("Accelerator(dataloader_config=DataLoaderConfiguration(even_batches=False))", False),
        ("Accelerator(dataloader_config=DataLoaderConfiguration(split_batches=True))", True),
    ],
)
def test_accelerate_fills_the_last_batch_up_on_several_replicas(made: str, evened: bool) -> None:
    _, found = findings(f"""
        from accelerate import Accelerator
        from accelerate.utils import DataLoaderConfiguration, is_torch_xla_available
        accelerator = {made}
        net, sgd, loader = accelerator.prepare(model, optimizer, DataLoader(rows, batch_size=4))
        for x in loader:
            sgd.zero_grad()
            accelerator.backward(net(x).mean())
            sgd.step()
    """)
    (text,) = (finding.message for finding in found if finding.rule.symbol == "xla-ragged-batch")
    assert ("on one replica: for several, Accelerate fills the last batch up" in text) is evened
    assert "smaller than the others" in text


def test_one_of_several_functions_that_a_setting_chose_is_less_sure_than_the_only_one() -> None:
    _, found = findings("""
        def by_sign(out):
            return out if out.sum() > 0 else -out

        def by_size(out):
            return out.abs()

        chosen = by_sign if os.environ.get("SIGN") else by_size
        for step in range(90):
            out = update(torch.ones(2, 4, device=device))
            out = chosen(out)
            torch_xla.sync()
    """)
    assert [finding.confidence for finding in found] == [Confidence.CONTROL_FLOW]
    _, found = findings("""
        def by_sign(out):
            return out if out.sum() > 0 else -out

        for step in range(90):
            out = update(torch.ones(2, 4, device=device))
            out = by_sign(out)
            torch_xla.sync()
    """)
    assert [finding.confidence for finding in found] == [Confidence.HIGH]
