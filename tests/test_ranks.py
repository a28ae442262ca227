"""What only some replicas do: tests on ranks and on values of one's own, followed through the program."""

from __future__ import annotations

import textwrap

import pytest

from tests.test_fixtures import expected
from xla_lint.engine import Settings, check_module
from xla_lint.program.project.project import Project
from xla_lint.program.project.scope import Version
from xla_lint.program.project.source import parse

SYMBOLS = frozenset({"xla-rank-divergence", "xla-rank-read", "xla-torch-save"})
HEAD = """\
import os
from contextlib import contextmanager
from dataclasses import dataclass
import torch, torch_xla, wandb
import torch.distributed as dist
import torch_xla.core.xla_model as xm
import torch_xla.runtime as xr
from torch import nn

@dataclass
class Env:
    rank: int
    world: int
    log: object = None
    saved: int = 0

    @property
    def first(self):
        return self.rank == 0

def is_first():
    return xr.global_ordinal() == 0

def made():
    if not is_first():
        return None
    return open("log")

def named():
    if is_first():
        return "first"
    return "other"

def reduced(value):
    return xm.mesh_reduce("value", value, max)

"""


def agrees(code: str, target: Version | None = None) -> None:
    text = HEAD + textwrap.dedent(code)
    found = check_module(parse(text, "train.py"), Project(), Settings(target=target), SYMBOLS)
    assert {(int(finding.node.lineno or 0), finding.rule.symbol) for finding in found} == expected(text)


def in_worker(body: str) -> str:
    lines = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    return f"""\
def worker(index, path="model.pt"):
    device = torch_xla.device()
    env = Env(xr.global_ordinal(), xr.world_size())
    model = nn.Linear(4, 1).to(device)
    value = model(torch.randn(2, 4, device=device)).mean()
    writer = made() if is_first() else None
    shared = open(path) if path else None
    shown, told, role = False, False, "other"
    if env.first:
        env.log = open("log")
        env.saved = 1
        shown, told, role = True, True, "first"
    else:
        told = True
    for _ in range(3):
        if writer is not None:
            writer.add(1)
{lines}

torch_xla.launch(worker)
"""


RANK_TESTS = {
    "the index": "if index == 0:",
    "an ordinal": "if xr.global_ordinal() == 0:",
    "an attribute": "if env.rank == 0:",
    "a property": "if env.first:",
    "a function": "if is_first():",
    "a part of a test": "if is_first() and env.world > 1:",
    "an environment variable": 'if int(os.environ.get("RANK", 0)) == 0:',
    "a list of ranks": 'if int(os.environ["LOCAL_RANK"]) in (-1, 0):',
    "a rank on some paths": "if (xm.get_local_ordinal() if env.world > 1 else 0) == 0:",
    "a remainder": "if index % 2 == 0:",
    "a loop": "while index == 0:",
    "what one replica holds": "if writer:",
    "what one replica has made": "if env.log is not None:",
    "what a function makes on one": "if made() is not None:",
    "a flag that is set on one": "if shown:",
    "a text that is set on one": 'if role == "first":',
    "a number that one replica has counted": "if env.saved > 0:",
    "a choice by rank": "if (4 if index == 0 else 2) > 3:",
    "what a function returns on one": 'if named() == "first":',
}
SAME_TESTS = {
    "the world": "if xr.world_size() > 1:",
    "what all hold": "if shared is not None:",
    "no rank at all": 'if int(os.environ.get("LOCAL_RANK", -1)) != -1:',
    "a reduced value": "if reduced(value.item()) > 1:",
    "an all-reduced tensor": "if xm.all_reduce(xm.REDUCE_SUM, value).item() > 1:",
    "a flag": 'if path == "model.pt":',
    "a flag that all set alike": "if told:",
    "a flag that all have agreed upon": 'if xm.mesh_reduce("x", shown, max):',
}


@pytest.mark.parametrize("test", RANK_TESTS.values(), ids=RANK_TESTS)
def test_ranks_in_many_forms(test: str) -> None:
    agrees(in_worker(f'{test}\n    xm.rendezvous("x")  # expect: xla-rank-divergence'))


@pytest.mark.parametrize("test", SAME_TESTS.values(), ids=SAME_TESTS)
def test_tests_that_come_out_the_same(test: str) -> None:
    agrees(in_worker(f'{test}\n    xm.rendezvous("x")'))


BODIES = {
    "an early return": """
        if index != 0:
            return
        torch_xla.sync()  # expect: xla-rank-divergence
    """,
    "an exception ends the program": """
        if value.item() != value.item():
            raise FloatingPointError
        xm.rendezvous("x")
    """,
    "a value of one's own": """
        if value.item() > 1:
            xm.save({"value": value}, path)  # expect: xla-rank-read
            xm.rendezvous("x")  # expect: xla-rank-divergence
            xm.save({"value": value}, path)
    """,
    "a value of one's own, or none": """
        def checked(loss):
            return float("nan") if os.environ.get("SKIP") else loss.item()
        if checked(value) < 1:
            xm.rendezvous("x")  # expect: xla-rank-divergence
    """,
    "a value of one's own from some turns": """
        best, last = 9.0, None
        for step in range(9):
            loss = model(torch.ones(2, 4, device=device)).mean()
            torch_xla.sync()
            if step % 4 == 0:
                best = loss.item()
            last = loss.item() if step > 2 else 0.0
        if best < 1:
            xm.rendezvous("x")  # expect: xla-rank-divergence
        if last < 1:
            xm.rendezvous("y")  # expect: xla-rank-divergence
    """,
    "what all replicas have agreed upon, or nothing": """
        best = 9.0
        if os.environ.get("TEST"):
            best = xm.mesh_reduce("best", value.item(), min)
        if best < 1:
            xm.rendezvous("x")
    """,
    "a tensor of one's own": """
        if value > 1:
            dist.all_reduce(value)  # expect: xla-rank-divergence
    """,
    "what a barrier has ended before is saved by one": """
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(9):
            optimizer.zero_grad()
            model(torch.ones(2, 4, device=device)).mean().backward()
            xm.optimizer_step(optimizer)
            if is_first():
                xm.save(model.state_dict(), path)  # expect: xla-rank-read
            torch_xla.sync()
            if is_first():
                xm.save(model.state_dict(), path)
                xm.save({"step": step}, path)
    """,
    "tests that part nobody between": """
        if is_first():
            if os.environ.get("PLAIN"):
                xm.rendezvous("x")  # expect: xla-rank-divergence
            else:
                xm.rendezvous("y")  # expect: xla-rank-divergence
        if os.environ.get("PLAIN"):
            if is_first():
                xm.rendezvous("z")
            else:
                xm.rendezvous("z")
    """,
    "twins in two branches": """
        if is_first():
            dist.gather(value, [value])
        else:
            dist.gather(value)
    """,
    "twins before and after": """
        local = int(os.environ["LOCAL_RANK"])
        if local not in (-1, 0):
            dist.barrier()
        os.makedirs("x", exist_ok=True)
        if local == 0:
            dist.barrier()
    """,
    "the same test twice makes no twins": """
        if index == 0:
            dist.barrier()  # expect: xla-rank-divergence
        if index == 0:
            dist.barrier()  # expect: xla-rank-divergence
    """,
    "a short circuit": """
        index == 0 and xm.rendezvous("x")  # expect: xla-rank-divergence
        env.first or xm.rendezvous("y")  # expect: xla-rank-divergence
        xm.rendezvous("z")
    """,
    "a match": """
        match env.rank:
            case 0:
                xm.rendezvous("x")  # expect: xla-rank-divergence
            case _:
                print(path)
        match path:
            case "model.pt":
                xm.rendezvous("y")
        xm.rendezvous("z")
    """,
    "a pending value": """
        if index == 0:
            print(value.item())  # expect: xla-rank-read
    """,
    "an expression that decides": """
        text = f"{value}" if index == 0 else ""  # expect: xla-rank-read
    """,
    "a value whose graph holds a collective": """
        mean = xm.all_reduce(xm.REDUCE_SUM, value) / env.world
        if index == 0:
            print(mean.item())  # expect: xla-rank-divergence
    """,
    "a value that was reduced in place": """
        xm.all_reduce(xm.REDUCE_SUM, [value])
        if index == 0:
            print(value.item())  # expect: xla-rank-divergence
    """,
    "a value after the barrier": """
        mean = xm.all_reduce(xm.REDUCE_SUM, value) / env.world
        torch_xla.sync()
        if index == 0:
            print(mean.item())
    """,
    "a value read by all": """
        number, copy = value.item(), value.cpu()
        if index == 0:
            print(number, copy.item(), value)
        xm.master_print(f"{value.item()}")
    """,
    "a print on the master": """
        xm.master_print("value", value)  # expect: xla-rank-read
        xm.master_print("path", path)
    """,
    "hooks on one replica": """
        if index == 0:
            wandb.watch(model)  # expect: xla-rank-read
        run = wandb.init(project="p") if index == 0 else None
        if run:
            run.watch(model, log="all")  # expect: xla-rank-read
    """,
    "host values are saved": """
        state = {name: tensor.cpu() for name, tensor in model.state_dict().items()}
        if index == 0:
            torch.save(state, path)
            xm.save(state, path)
    """,
    "device values are pickled": """
        if index == 0:
            torch.save({"model": model}, path)  # expect: xla-torch-save
    """,
    "another branch for other devices": """
        if path.endswith("xla.pt"):
            xm.save(model.state_dict(), path)
        else:
            torch.save(model.state_dict(), path)
    """,
    "a copy for the host on some paths": """
        state = model.state_dict()
        if path.endswith("cpu.pt"):
            state = {name: tensor.cpu() for name, tensor in state.items()}
        torch.save(state, path)
    """,
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_under_a_test(body: str) -> None:
    agrees(in_worker(body))


def test_a_save_of_old_releases_waits_for_all() -> None:
    body = "if index == 0:\n    xm.save(model.state_dict(), path)  # expect: xla-rank-divergence"
    agrees(in_worker(body), Version(2, 0))


def test_the_guarded_call_speaks_for_what_it_reaches() -> None:
    agrees(
        """
        @contextmanager
        def first_one_first(tag):
            if not is_first():
                xm.rendezvous(tag)
            yield
            if is_first():
                xm.rendezvous(tag)

        def evaluate(model, device):
            score = model(torch.randn(2, 4, device=device)).mean()
            return xm.mesh_reduce("score", score.item(), max)

        def worker(index):
            device = torch_xla.device()
            model = nn.Linear(4, 1).to(device)
            with first_one_first("data"):
                os.makedirs("x", exist_ok=True)
            evaluate(model, device)
            if index == 0:
                evaluate(model, device)  # expect: xla-rank-divergence
                evaluate(model, device)  # expect: xla-rank-divergence

        torch_xla.launch(worker)
        """
    )


def test_one_process_may_decide_by_its_values() -> None:
    agrees(
        """
        def solve(device):
            x = torch.randn(4, device=device)
            while x.abs().max().item() > 0.1:
                x = x / 2
                torch_xla.sync()

        solve(torch_xla.device())
        """
    )


FRAMEWORKS = {
    "Lightning's module asks its trainer": """
        class Lit(lightning.LightningModule):
            net = nn.Linear(4, 1)

            def training_step(self, batch, index):
                loss = self.net(batch).mean()
                if self.trainer.is_global_zero:
                    print(loss.item())  # expect: xla-rank-read
                return loss
    """,
    "Lightning's module knows its rank": """
        class Lit(lightning.LightningModule):
            net = nn.Linear(4, 1)

            def training_step(self, batch, index):
                loss = self.net(batch).mean()
                if self.global_rank == 0 and index % 50 == 0:
                    print(loss.item())  # expect: xla-rank-read
                return loss
    """,
    "a function of one rank": """
        @lightning.utilities.rank_zero_only
        def show(value):
            print(value.item())  # expect: xla-rank-read

        class Lit(lightning.LightningModule):
            net = nn.Linear(4, 1)

            def training_step(self, batch, index):
                loss = self.net(batch).mean()
                show(loss)
                return loss
    """,
    "a callback of Lightning": """
        class Show(lightning.Callback):
            def on_validation_batch_end(self, trainer, module, outputs, batch, index):
                if trainer.global_rank == 0:
                    print(outputs["loss"].item())  # expect: xla-rank-read
    """,
    "a trainer of Transformers": """
        class Mine(transformers.Seq2SeqTrainer):
            def compute_loss(self, model, inputs):
                loss = model(**inputs).loss
                if self.is_world_process_zero():
                    print(loss.item())  # expect: xla-rank-read
                return loss
    """,
    "the arguments of a trainer": """
        class Mine(transformers.Trainer):
            def compute_loss(self, model, inputs):
                loss = model(**inputs).loss
                if self.args.process_index == 0:
                    print(loss.item())  # expect: xla-rank-read
                return loss
    """,
    "a function of Accelerate's main process": """
        accelerator = accelerate.Accelerator()
        model = accelerator.prepare(nn.Linear(4, 1))

        @accelerator.on_main_process
        def show(value):
            print(value.item())  # expect: xla-rank-read

        for batch in accelerator.prepare(torch.utils.data.DataLoader([torch.ones(4)] * 8)):
            loss = model(batch).mean()
            accelerator.backward(loss)
            show(loss)
    """,
}


@pytest.mark.parametrize("code", FRAMEWORKS.values(), ids=FRAMEWORKS)
def test_frameworks_tell_ranks(code: str) -> None:
    agrees("import accelerate, lightning, transformers\n" + textwrap.dedent(code))


def test_a_loader_that_waits_is_reported_once() -> None:
    text = HEAD + textwrap.dedent(
        """
        from torch_xla.distributed.parallel_loader import MpDeviceLoader

        def worker(index):
            if index == 0:
                for x in MpDeviceLoader([torch.ones(2)], torch_xla.device()):
                    pass

        torch_xla.launch(worker)
        """
    )
    found = check_module(parse(text, "train.py"), Project(), Settings(), ["xla-rank-divergence"])
    assert [finding.node.as_string() for finding in found] == ["MpDeviceLoader([torch.ones(2)], torch_xla.device())"]


ACCELERATED = {
    "a step that some replicas skip": """
        for batch in loader:
            loss = model(batch).mean()
            if not torch.isfinite(loss):
                continue
            accelerator.backward(loss)
            optimizer.step()  # expect: xla-rank-divergence
    """,
    "clipping that some replicas skip": """
        for batch in loader:
            loss = model(batch).mean()
            accelerator.backward(loss)
            if loss.item() < 9:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)  # expect: xla-rank-divergence
            optimizer.step()
    """,
    "clipping and a step that some replicas skip": """
        for batch in loader:
            loss = model(batch).mean()
            if loss.item() > 9:
                continue
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 1.0)  # expect: xla-rank-divergence
            optimizer.step()
    """,
    "a helper that returns early": """
        def train_step(batch):
            loss = model(batch).mean()
            if loss.isnan().any():
                return None
            accelerator.backward(loss)
            optimizer.step()  # expect: xla-rank-divergence
            return loss

        for batch in loader:
            train_step(batch)
    """,
    "the best of what all replicas have gathered": """
        import math
        best, losses = None, []
        for batch in loader:
            losses.append(accelerator.gather_for_metrics(model(batch).mean().repeat(2)))
        perplexity = math.exp(torch.cat(losses).mean())
        if best is None or best > perplexity:
            best = perplexity
            accelerator.save_state("best")
    """,
    "the best of one's own": """
        import math
        perplexity = math.exp(model(torch.ones(4)).mean().item())
        if perplexity < 9 or math.isnan(perplexity):
            accelerator.save_state("best")  # expect: xla-rank-divergence
    """,
    "a step that all replicas skip": """
        for batch in loader:
            loss = model(batch).mean()
            accelerator.backward(loss)
            if accelerator.gather(loss).isfinite().all():
                optimizer.step()
            optimizer.zero_grad()
    """,
    "the next batch after a turn that was cut short": """
        for batch in loader:
            if model(batch).mean().item() > 9:
                continue
            print("fine")
    """,
    "the next batch after a turn of the others": """
        for batch in loader:
            if not accelerator.is_main_process:
                continue
            print("fine")
    """,
}


@pytest.mark.parametrize("body", ACCELERATED.values(), ids=ACCELERATED)
def test_what_accelerate_reduces(body: str) -> None:
    agrees(
        """
        import accelerate
        accelerator = accelerate.Accelerator()
        model = nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        rows = torch.utils.data.DataLoader([torch.ones(4)] * 8, batch_size=2, drop_last=True)
        model, optimizer, loader = accelerator.prepare(model, optimizer, rows)
        """
        + textwrap.indent(textwrap.dedent(body), " " * 8)
    )


@pytest.mark.parametrize(
    ("call", "harm"), [("torch_xla.sync()", "as soon as a collective is pending"), ("xm.rendezvous('x')", "waiting")]
)
def test_a_barrier_is_not_said_to_wait_by_itself(call: str, harm: str) -> None:
    text = HEAD + textwrap.dedent(in_worker(f"if index == 0:\n    {call}"))
    found = check_module(parse(text, "train.py"), Project(), Settings(), ["xla-rank-divergence"])
    assert [harm in finding.message for finding in found] == [True]
