"""Whose parameters an optimizer holds, what reduces gradients, and what works on them before."""

from __future__ import annotations

import textwrap

import pytest

from tests.test_fixtures import expected
from xla_lint.engine import Settings, check_module
from xla_lint.program.project.project import Project
from xla_lint.program.project.scope import Version
from xla_lint.program.project.source import parse

SYMBOLS = frozenset(
    {
        "xla-stale-optimizer",
        "xla-unreduced-gradients",
        "xla-clip-before-reduce",
        "xla-foreign-grad-scaler",
        "xla-foreign-autocast",
        "xla-non-syncfree-optimizer",
        "xla-syncing-optimizer",
        "xla-syncing-clip",
    }
)
HEAD = """\
import copy, contextlib
from itertools import chain
import torch, torch_xla
import torch.distributed as dist
import torch_xla.core.xla_model as xm
import torch_xla.runtime as xr
import torchvision
from torch import nn
from elsewhere import build_model, average, note, settings

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(4, 4), nn.Linear(4, 1)

    def forward(self, x):
        return self.head(self.body(x))

def fit(model, optimizer, device):
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.randn(2, 4, device=device)).sum().backward()
        optimizer.step()
        torch_xla.sync()

"""


def agrees(code: str, target: Version | None = None) -> None:
    text = HEAD + textwrap.dedent(code)
    found = check_module(parse(text, "train.py"), Project(), Settings(target=target), SYMBOLS)
    assert {(int(finding.node.lineno or 0), finding.rule.symbol) for finding in found} == expected(text)


STALE = {
    "library model": """
        model = torchvision.models.resnet18()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  # expect: xla-stale-optimizer
        model = model.to(device)
        fit(model, optimizer, device)
    """,
    "model of an unknown factory": """
        model = build_model()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  # expect: xla-stale-optimizer
        model.to(device)
        fit(model, optimizer, device)
    """,
    "groups of the parameters of parts": """
        model = Net()
        groups = [{"params": model.body.parameters()}, {"params": model.head.parameters(), "lr": 1.0}]
        optimizer = torch.optim.SGD(groups, lr=0.1)  # expect: xla-stale-optimizer
        model.to(device)
        fit(model, optimizer, device)
    """,
    "parameters sorted into lists": """
        model = Net()
        decay, rest = [], []
        for name, p in model.named_parameters():
            if name.endswith("weight"):
                decay.append(p)
            else:
                rest.append(p)
        optimizer = torch.optim.AdamW([{"params": decay}, {"params": rest}])  # expect: xla-stale-optimizer
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
        model.to(device)
        fit(model, optimizer, device)
    """,
    "parameters sorted by an expression": """
        model = Net()
        decay, rest = [], []
        for p in model.parameters():
            (decay if p.ndim > 1 else rest).append(p)
        optimizer = torch.optim.AdamW([{"params": decay}, {"params": rest}])  # expect: xla-stale-optimizer
        model.to(device)
        fit(model, optimizer, device)
    """,
    "parameters sorted into a dict": """
        model = Net()
        groups = {"decay": [], "rest": []}
        for name, p in model.named_parameters():
            groups["rest" if name.endswith("bias") else "decay"].append(p)
        optimizer = torch.optim.AdamW(groups["decay"] + groups["rest"])  # expect: xla-stale-optimizer
        model.to(device)
        fit(model, optimizer, device)
    """,
    "a part of a sequence": """
        body, head = nn.Linear(4, 4), nn.Linear(4, 1)
        model = nn.Sequential(body, nn.ReLU(), head)
        optimizer = torch.optim.SGD(head.parameters(), lr=0.1)  # expect: xla-stale-optimizer
        model.to(device)
        fit(model, optimizer, device)
    """,
    "an item of a sequence": """
        model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
        optimizer = torch.optim.SGD(model[1].parameters(), lr=0.1)  # expect: xla-stale-optimizer
        model.to(device)
        fit(model, optimizer, device)
    """,
    "a sequence of what was moved before": """
        model = nn.Sequential(nn.Linear(4, 4).to(device), nn.Linear(4, 1).to(device))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model.to(device)
        fit(model, optimizer, device)
    """,
    "one of two models": """
        moved, late = Net().to(device), Net()
        parameters = chain(moved.parameters(), late.parameters())
        optimizer = torch.optim.SGD(parameters, lr=0.1)  # expect: xla-stale-optimizer
        late.to(device)
        fit(late, optimizer, device)
    """,
    "a group added later": """
        model, late = Net().to(device), Net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  # expect: xla-stale-optimizer
        optimizer.add_param_group({"params": late.parameters()})
        late.to(device)
        fit(model, optimizer, device)
    """,
    "a loaded state": """
        model = Net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  # expect: xla-stale-optimizer
        model.to(device)
        optimizer.load_state_dict(torch.load("state.pt"))
        fit(model, optimizer, device)
    """,
    "a round trip in the loop": """
        model = Net().to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  # expect: xla-stale-optimizer
        for epoch in range(3):
            fit(model, optimizer, device)
            xm.save(model.cpu().state_dict(), "model.pt")
            model.to(device)
    """,
    "a second move": """
        model = Net().to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(3):
            model.to(device)
            fit(model, optimizer, device)
    """,
    "a copy that is moved": """
        model = Net().to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(3):
            xm.save(copy.deepcopy(model).cpu().state_dict(), "model.pt")
            fit(model, optimizer, device)
    """,
    "another optimizer after the move": """
        model = Net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        optimizer.step()
        model.to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        fit(model, optimizer, device)
    """,
    "parts made on the device": """
        model = nn.ModuleList([nn.Linear(4, 1, device=device)])
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model.to(device)
        fit(model[0], optimizer, device)
    """,
    "the host": """
        model = Net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model(torch.randn(2, 4)).sum().backward()
        optimizer.step()
    """,
}


@pytest.mark.parametrize("body", STALE.values(), ids=STALE)
def test_stale_optimizers(body: str) -> None:
    lines = textwrap.dedent(body).strip()
    agrees(f"def main(device):\n{textwrap.indent(lines, '    ')}\n\nmain(torch_xla.device())\n")


def test_stale_optimizers_that_leave_a_function_or_stay_in_an_object() -> None:
    agrees(
        """
        def build(device):
            model = Net()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  # expect: xla-stale-optimizer
            model.to(device)
            return model, optimizer

        class Agent:
            def __init__(self):
                self.policy = build_model()
                self.optimizer = self.make()

            def make(self):
                return torch.optim.Adam(self.policy.parameters())  # expect: xla-stale-optimizer

            def to(self, device):
                self.policy = self.policy.to(device)

            def learn(self, x):
                self.policy(x).mean().backward()
                self.optimizer.step()
        """
    )


def test_methods_without_a_caller_may_run_in_any_order() -> None:
    agrees(
        """
        class Agent:
            def __init__(self, device):
                self.net = Net().to(device)

            def build(self):
                self.optimizer = torch.optim.Adam(self.net.parameters())

            def setup(self, device):
                self.net.to(device)

            def export(self):
                self.net.cpu()

            def learn(self, x):
                self.net(x).mean().backward()
                self.optimizer.step()
        """
    )


REPLICAS = {
    "a reduced loss is no reduced gradient": """
        loss.backward()
        shown = xm.all_reduce(xm.REDUCE_SUM, loss.detach())
        optimizer.step()  # expect: xla-unreduced-gradients
    """,
    "one of two optimizers": """
        loss.backward()
        optimizer.step()  # expect: xla-unreduced-gradients
        loss = model(x).square().mean()
        loss.backward()
        xm.optimizer_step(optimizer)
    """,
    "gradients reduced one by one": """
        loss.backward()
        for p in model.parameters():
            if p.grad is not None:
                dist.all_reduce(p.grad)
        optimizer.step()
    """,
    "gradients reduced together": """
        loss.backward()
        flat = torch.cat([p.grad.view(-1) for p in model.parameters()])
        dist.all_reduce(flat)
        optimizer.step()
    """,
    "gradients fetched from the optimizer": """
        loss.backward()
        gradients = xm._fetch_gradients(optimizer)
        xm.all_reduce("sum", gradients, scale=1 / xr.world_size())
        optimizer.step()
    """,
    "parameters averaged now and then": """
        loss.backward()
        optimizer.step()
        xm.all_reduce(xm.REDUCE_SUM, [p.data for p in model.parameters()], scale=1 / xr.world_size())
    """,
    "a call that no gradients reach": """
        loss.backward()
        note(step)
        settings.report(step, loss.shape)
        optimizer.step()  # expect: xla-unreduced-gradients
    """,
    "an object that was given the model": """
        settings.register(model)
        loss.backward()
        settings.average()
        optimizer.step()
    """,
    "a function that cannot be followed": """
        loss.backward()
        average(model)
        optimizer.step()
    """,
    "clipping after the reduction": """
        loss.backward()
        xm.reduce_gradients(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    """,
    "clipping before the reduction, now and then": """
        loss.backward()
        if step % 4 == 0:
            nn.utils.clip_grad_value_(model.parameters(), 1.0)  # expect: xla-clip-before-reduce
            xm.optimizer_step(optimizer)
    """,
    "clipping what is left after the last step": """
        loss.backward()
        if step % 4 == 0:
            xm.optimizer_step(optimizer)
            optimizer.zero_grad()
        if step == 7:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # expect: xla-clip-before-reduce
            xm.optimizer_step(optimizer)
    """,
    "clipping in a program that wraps its model for GPUs": """
        if settings.cuda:
            model = nn.parallel.DistributedDataParallel(model, device_ids=[settings.rank])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # expect: xla-clip-before-reduce
        xm.optimizer_step(optimizer)
    """,
    "clipping what a wrapper has reduced": """
        model = nn.parallel.DistributedDataParallel(model)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        xm.optimizer_step(optimizer)
    """,
    "clipping gradients that begin anew": """
        loss.backward()
        if step % 4 == 0:
            xm.optimizer_step(optimizer)
            optimizer.zero_grad()
        else:
            xm.reduce_gradients(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    """,
    "unscaling before the reduction": """
        scaler = torch.amp.GradScaler("xla")  # expect: xla-foreign-grad-scaler
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)  # expect: xla-clip-before-reduce
        xm.reduce_gradients(optimizer)
        scaler.step(optimizer)
    """,
}


def replicated(body: str, launch: str) -> str:
    lines = textwrap.indent(textwrap.dedent(body).strip(), "        ")
    return f"""\
def worker(index):
    device = torch_xla.device()
    model = nn.Linear(4, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(8):
        x = torch.randn(2, 4, device=device)
        loss = model(x).square().mean()
{lines}
        torch_xla.sync()

{launch}
"""


@pytest.mark.parametrize("body", REPLICAS.values(), ids=REPLICAS)
def test_gradients_of_several_replicas(body: str) -> None:
    agrees(replicated(body, "torch_xla.launch(worker)"))


@pytest.mark.parametrize("rows", ["parameters", "state_dict().values"])
def test_parameters_made_alike_before_the_training_reduce_no_gradients(rows: str) -> None:
    body = """
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # expect: xla-clip-before-reduce
        xm.optimizer_step(optimizer)
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()  # expect: xla-unreduced-gradients
    """
    once = f"    for p in model.{rows}():\n        xm.all_reduce('sum', [p.data], scale=1 / xr.world_size())\n"
    code = replicated(body, "torch_xla.launch(worker)")
    agrees(code.replace("    for step in", f"{once}    for step in"))


@pytest.mark.parametrize(
    ("model", "where"), [("build_model()", "device"), ("nn.Linear(4, 1)", "elsewhere"), ("nn.Linear(4, 1)", "device")]
)
@pytest.mark.parametrize("step", ["xm.optimizer_step(optimizer)  # clipped before", "average(model)"])
def test_clipping_where_model_or_device_cannot_be_told(model: str, where: str, step: str) -> None:
    expect = "  # expect: xla-clip-before-reduce" if "clipped before" in step else ""
    body = f"loss.backward()\nnn.utils.clip_grad_norm_(model.parameters(), 1.0){expect}\n{step}"
    code = replicated(body, "torch_xla.launch(worker)").replace("nn.Linear(4, 1).to(device)", f"{model}.to({where})")
    agrees("elsewhere = average(device)\n" + code.replace("device=device", f"device={where}"))


MODELS = {
    "a sequence": ("nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))", True),
    "a sequence of named parts": ("nn.Sequential(OrderedDict([('a', nn.Linear(4, 4)), ('b', nn.Linear(4, 1))]))", True),
    "a sequence of a list": ("nn.Sequential(*[nn.Linear(4, 4) for _ in range(3)], nn.Linear(4, 1))", True),
    "a model that holds one": ("Deep()", True),
    "a sequence with a part of elsewhere": ("nn.Sequential(nn.Linear(4, 4), build_model())", False),
    "a sequence of unknown parts": ("nn.Sequential(*build_model())", False),
}


@pytest.mark.parametrize(("model", "known"), MODELS.values(), ids=MODELS)
def test_models_whose_construction_is_in_sight(model: str, known: bool) -> None:
    expect = "  # expect: xla-unreduced-gradients" if known else ""
    code = replicated(f"loss.backward()\noptimizer.step(){expect}", "torch_xla.launch(worker)")
    head = """\
from collections import OrderedDict

class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.blocks = nn.ModuleList()
        for _ in range(3):
            self.blocks.append(nn.Linear(4, 4))

    def forward(self, x):
        x = self.body(x)
        for block in self.blocks:
            x = block(x)
        return x

"""
    agrees(head + code.replace("nn.Linear(4, 1).to(device)", f"{model}.to(device)"))


ACCELERATED = {
    "torch's clipping": "nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # expect: xla-clip-before-reduce",
    "clipping by value": "accelerator.clip_grad_value_(model.parameters(), 1.0)  # expect: xla-clip-before-reduce",
    "clipping by norm": "accelerator.clip_grad_norm_(model.parameters(), 1.0)",
    "torch's clipping of reduced gradients": """\
accelerator.clip_grad_norm_(model.parameters(), 1.0)
nn.utils.clip_grad_value_(model.parameters(), 1.0)""",
}


def accelerated(clip: str, options: str = "") -> str:
    return f"""\
from accelerate import Accelerator

accelerator = Accelerator({options})
model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = accelerator.prepare(model, optimizer)
for step in range(8):
    optimizer.zero_grad()
    accelerator.backward(model(torch.randn(2, 4, device=accelerator.device)).mean())
{textwrap.indent(clip, "    ")}
    optimizer.step()
    torch_xla.sync()
"""


@pytest.mark.parametrize("clip", ACCELERATED.values(), ids=ACCELERATED)
def test_prepared_optimizers_reduce_in_their_step(clip: str) -> None:
    agrees(accelerated(clip))


def test_a_plugin_of_accelerate_may_reduce_elsewhere() -> None:
    agrees(accelerated("nn.utils.clip_grad_norm_(model.parameters(), 1.0)", "fsdp_plugin=build_model()"))


@pytest.mark.parametrize("launch", ["worker(0)", "torch_xla.launch(worker, debug_single_process=True)"])
def test_one_process_has_nothing_to_reduce(launch: str) -> None:
    agrees(replicated("loss.backward()\nnn.utils.clip_grad_norm_(model.parameters(), 1.0)\noptimizer.step()", launch))


AUTOCAST = """
    def main(device, net):
        with torch.autocast("cuda", dtype=torch.float16):{expect}
            net(torch.randn(2, 4, device=device))
        with torch.autocast("cuda", enabled=False):
            net(torch.randn(2, 4, device=device))
        with torch.autocast(device.type), contextlib.nullcontext():
            net(torch.randn(2, 4, device=device))
        with torch.autocast("cuda"):
            Net()(torch.randn(2, 4))

    main(torch_xla.device(), Net().to(torch_xla.device()))
"""


def test_autocast_for_other_devices() -> None:
    agrees(AUTOCAST.format(expect="  # expect: xla-foreign-autocast"), Version(2, 1))


def test_xla_tensors_took_part_in_the_autocast_of_cuda_once() -> None:
    agrees(AUTOCAST.format(expect=""), Version(2, 0))


def test_optimizers_and_clips_that_read_on_the_device_alone() -> None:
    agrees(
        """
        def build(model, device):
            nn.utils.clip_grad_norm_(model.parameters(), 1.0, 2.0, True)  # expect: xla-syncing-clip
            torch.optim.Adam(model.parameters(), lr=torch.tensor(0.1))
            torch.optim.Adam(model.parameters(), lr=torch.tensor(0.1, device=device), capturable=True)
            torch.optim.SGD(model.parameters(), lr=torch.tensor(0.1, device=device))  # expect: xla-syncing-optimizer
            torch.optim.RAdam([{"params": model.parameters()}])  # expect: xla-syncing-optimizer
            return torch.optim.LBFGS(model.parameters())  # expect: xla-syncing-optimizer

        def polish(model):
            nn.utils.clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=True)
            return torch.optim.LBFGS(model.parameters())

        build(Net().to(torch_xla.device()), torch_xla.device())
        polish(Net().cpu())
        """
    )


@pytest.mark.parametrize("models", [("head", "body"), ("body", "head")])
def test_an_optimizer_of_two_models_belongs_to_both(models: tuple[str, str]) -> None:
    first, second = models
    source = f"""\
import torch
from accelerate import Accelerator
from torch import nn

accelerator = Accelerator()
head, body = nn.Linear(8, 1), nn.Linear(8, 8)
optimizer = torch.optim.SGD(list({first}.parameters()) + list({second}.parameters()), lr=0.1)
head, optimizer = accelerator.prepare(head, optimizer)
body = accelerator.prepare(body)
"""
    found = check_module(parse(source, "train.py"), Project(), Settings(), frozenset({"xla-accelerate-split-prepare"}))
    assert [finding.node.lineno for finding in found] == [9]


@pytest.mark.parametrize("optimizer", ["torch.optim.SGD", "syncfree.SGD"])
def test_every_prepared_optimizer_reduces_gradients_in_its_step(optimizer: str) -> None:
    source = f"""\
import torch
from accelerate import Accelerator
from torch import nn
from torch_xla.amp import syncfree

accelerator = Accelerator()
model = nn.Linear(8, 1)
optimizer = {optimizer}(model.parameters(), lr=0.1)
model, optimizer = accelerator.prepare(model, optimizer)
for _ in range(9):
    accelerator.backward(model(torch.ones(4, 8)).mean())
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
"""
    found = check_module(parse(source, "train.py"), Project(), Settings(), frozenset({"xla-clip-before-reduce"}))
    assert [finding.node.lineno for finding in found] == [12]


COUNTERS = {
    "a dict for each parameter": """
        for p in model.parameters():
            optimizer.state[p] = {
                "step": torch.zeros((), device=device),  # expect: xla-syncing-optimizer
                "exp_avg": torch.zeros_like(p),
            }
    """,
    "one entry": """
        for group in optimizer.param_groups:
            for p in group["params"]:
                state = optimizer.state[p]
                state["step"] = torch.tensor(0.0, device=p.device)  # expect: xla-syncing-optimizer
    """,
    "one entry at once": """
        for p in model.parameters():
            optimizer.state[p]["step"] = torch.zeros((), device=device)  # expect: xla-syncing-optimizer
    """,
    "on the host": """
        for p in model.parameters():
            optimizer.state[p] = {"step": torch.zeros(()), "exp_avg": torch.zeros_like(p)}
    """,
    "other entries": """
        for p in model.parameters():
            optimizer.state[p] = {"exp_avg": torch.zeros_like(p, device=device)}
    """,
}


@pytest.mark.parametrize("body", COUNTERS.values(), ids=COUNTERS)
def test_counters_of_steps(body: str) -> None:
    code = textwrap.dedent(body)
    head = "device = torch_xla.device()\nmodel = Net().to(device)\n"
    agrees(f"{head}optimizer = torch.optim.AdamW(model.parameters())\n{code}fit(model, optimizer, device)\n")
    quiet = code.replace("  # expect: xla-syncing-optimizer", "")
    for silent in ("torch.optim.AdamW(model.parameters(), capturable=True)", "torch.optim.RMSprop(model.parameters())"):
        agrees(f"{head}optimizer = {silent}\n{quiet}fit(model, optimizer, device)\n")
