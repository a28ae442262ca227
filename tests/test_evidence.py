"""What is known is kept: on objects, through parameters, helpers, containers and the calls of other libraries."""

from __future__ import annotations

import pytest

from tests.library.cases import verify

CASES = {
    "a device on parsed arguments": """
        import argparse

        def read_arguments():
            parser = argparse.ArgumentParser()
            return parser.parse_known_args()[0]

        def train(args):
            for _ in range(args.steps):
                print(model(torch.ones(2, 4, device=args.device)).sum().item())  # expect: xla-value-read
                torch_xla.sync()

        args = read_arguments()
        args.device = torch_xla.device()
        probe.value(args.device)  # is: device named
        probe.value(args.steps)  # is: unknown
        train(args)
    """,
    "a device on a configuration, by attribute and by key": """
        from omegaconf import OmegaConf
        config = OmegaConf.merge(OmegaConf.load("base.yaml"), {"depth": 3})
        config["device"] = torch_xla.device()
        OmegaConf.update(config, "other", torch_xla.device())
        probe.value(config.device)  # is: device named
        probe.value(config.get("other"))  # is: device named
        probe.value(config.depth)  # is: 3
        probe.value(config.width)  # is: unknown
    """,
    "a device on the flags of absl": """
        from absl import flags
        FLAGS = flags.FLAGS

        def place():
            FLAGS.device = torch_xla.device()

        place()
        probe.value(FLAGS.device)  # is: device named
    """,
    "a device put on something unknown, in a function that is given it": """
        from elsewhere import load

        def prepare(options):
            options.device = torch_xla.device()
            options.rank = xm.get_ordinal()  # expect: xla-removed-api

        options = load("train.yaml")
        prepare(options)
        probe.value(options.device)  # is: device named
        if options.rank == 0:
            torch_xla.sync()  # expect: xla-rank-divergence
    """,
    "a namespace of what another one holds": """
        from types import SimpleNamespace
        first = SimpleNamespace(steps=3)
        first.device = torch_xla.device()
        second = SimpleNamespace(**vars(first))
        probe.value(second.device)  # is: device named
        probe.value(second.steps)  # is: 3
    """,
    "what is saved of an object that holds more than is known": """
        import argparse
        args = argparse.ArgumentParser().parse_args()
        torch.save(args, "arguments.pt")
    """,
    "an unknown model that a function is given": """
        from elsewhere import build

        def evaluate(network, rows):
            network.eval()
            for row in rows:
                print(network(row).argmax(-1).sum().item())  # expect: xla-value-read
                torch_xla.sync()

        evaluate(build("small"), [torch.ones(2, 4, device=device)] * 6)
    """,
    "what is given to .to() may be a dtype": """
        from elsewhere import kinds

        def check(kind):
            x = torch.ones(3).to(kind)
            return x.numpy()

        check(kinds()[0])
    """,
    "methods of its own of an unknown model": """
        from elsewhere import build
        network = build("clip").to(device)
        head = torch.optim.SGD(network.parameters(), lr=0.1)
        for _ in range(9):
            found = network.encode_image(torch.ones(2, 4, device=device))
            if found.norm() > 3:  # expect: xla-tensor-branch
                break
            print(network.describe(t))
            torch_xla.sync()
    """,
    "an unknown part of a module": """
        from elsewhere import build

        class Guarded(nn.Module):
            def __init__(self, body, encoder):
                super().__init__()
                self.body = body
                self.encoder = encoder

            def forward(self, x):
                hidden = self.body(x)
                if hidden.isnan().any():  # expect: xla-tensor-branch
                    hidden = torch.zeros_like(hidden)
                coded = self.encoder.encode(hidden)
                return coded.sum().item() + coded  # expect: xla-value-read

        guarded = Guarded(build("body"), build("encoder")).to(device)
        for _ in range(9):
            guarded(torch.ones(2, 4, device=device))
            torch_xla.sync()
    """,
    "an optimizer of the project that xm.optimizer_step steps": """
        class Careful:
            def __init__(self, base):
                self.base = base

            def step(self):
                for group in self.base.param_groups:
                    for parameter in group["params"]:
                        if parameter.grad.norm() > 9:  # expect: xla-tensor-branch
                            return
                self.base.step()

        careful = Careful(optimizer)
        for _ in range(9):
            optimizer.zero_grad()
            model(torch.ones(2, 4, device=device)).mean().backward()
            xm.optimizer_step(careful)
            torch_xla.sync()
    """,
    "optimizers of other libraries": """
        import torch_ema
        from lion_pytorch import Lion
        from pytorch_optimizer import Lamb
        from transformers.optimization import AdamW
        probe.value(Lion(model.parameters(), lr=0.1))  # is: Optimizer
        probe.value(Lamb(model.parameters()))  # is: Optimizer
        probe.value(AdamW(model.parameters()))  # is: AdamW
        probe.value(torch_ema.ExponentialMovingAverage(model.parameters(), decay=0.9))  # is: unknown
    """,
    "named tuples": """
        from collections import namedtuple
        from typing import NamedTuple
        Pair = namedtuple("Pair", "loss norm")

        class Row(NamedTuple):
            loss: torch.Tensor
            name: str

        pair = Pair(t * 2, h)
        probe.value(pair[0])  # is: device tensor of 3
        first, second = pair
        probe.value(second)  # is: host tensor of 3
        probe.value(pair._asdict())  # is: {loss: device tensor of 3, norm: host tensor of 3}
        probe.value(pair._replace(loss=h).loss)  # is: host tensor of 3
        probe.value(Row(t * 2, "a")[0])  # is: device tensor of 3
        for part in Row(t * 2, "a"):
            probe.value(part)  # is: 'a' or device tensor of 3
    """,
    "data classes": """
        from dataclasses import asdict, astuple, dataclass, fields

        @dataclass
        class Result:
            loss: torch.Tensor
            norm: torch.Tensor

        result = Result(t * 2, t * 3)
        probe.value(asdict(result))  # is: {loss: device tensor of 3, norm: device tensor of 3}
        probe.value(astuple(result))  # is: (device tensor of 3, device tensor of 3)
        probe.value(vars(result))  # is: {loss: device tensor of 3, norm: device tensor of 3}
        for field in fields(result):
            probe.value(getattr(result, field.name))  # is: device tensor of 3
    """,
    "numbered keys": """
        weights = {0: 1.0, 1: 2.5}
        probe.value(weights[1])  # is: 2.5
        probe.value(list(weights))  # is: [number..]
        for label, weight in weights.items():
            probe.value(label)  # is: number
    """,
    "items set under each key in turn": """
        batch = {"x": h, "y": h}
        for name in batch:
            batch[name] = batch[name].to(device)
        probe.value(batch["x"])  # is: device tensor of 3
        other = {"x": h, "y": 3}
        for name, item in other.items():
            if isinstance(item, torch.Tensor):
                other[name] = item.to(device)
        probe.value(other["x"])  # is: device tensor of 3 or host tensor of 3 or number
    """,
    "a list of modules by an element of a tensor": """
        heads = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)]).to(device)
        for _ in range(9):
            days = torch.ones(2, device=device) * 1
            heads[days[0]](t)  # expect: xla-value-read
            torch_xla.sync()
    """,
    "a container of the same type": """
        def detached(values):
            if isinstance(values, (list, tuple)):
                return type(values)(detached(value) for value in values)
            return values.detach()

        probe.value(detached((t, t)))  # is: (device tensor of 3..)
    """,
    "the length of a list that comes and goes": """
        import random
        running, kept, queue = [], [], list()
        for step in range(9):
            if running and random.random() < 0.5:
                running.pop(0)
            running.append(step)
            model(torch.ones(9, 4, device=device)[: len(running)])  # expect: xla-changing-shape
            kept.append(step)
            if len(kept) > 4:
                kept.pop(0)
            model(torch.ones(9, 4, device=device)[: len(kept)])
            queue.append(step)
            queue.pop(0)
            model(torch.ones(9, 4, device=device)[: len(queue)])
            torch_xla.sync()
    """,
    "gradients that a barrier materialised": """
        for _ in range(9):
            optimizer.zero_grad()
            model(torch.ones(2, 4, device=device)).mean().backward()
            for parameter in model.parameters():
                print(parameter.grad.cpu())  # expect: xla-value-read
            torch_xla.sync()  # expect: xla-split-step
            for parameter in model.parameters():
                print(parameter.grad.cpu())  # expect: xla-late-read
            optimizer.step()
            torch_xla.sync()
    """,
    "packed sequences": """
        from torch.nn.utils.rnn import pack_padded_sequence
        for _ in range(9):
            pack_padded_sequence(t * 1, [3, 2, 1])  # expect: xla-data-dependent-shape
            pack_padded_sequence(h, [3, 2, 1])
            torch_xla.sync()
    """,
    "what a hook leaves for the next one": """
        from lightning import LightningModule

        class Net(LightningModule):
            def __init__(self, model):
                self.model = model

            def training_step(self, batch, batch_idx):
                loss = self.model(batch).sum()
                self.before = loss.detach()
                torch_xla.sync()
                self.after = loss.detach() * 2
                return loss

            def on_train_batch_end(self, outputs, batch, batch_idx):
                print(self.before.cpu())  # expect: xla-late-read
                print(self.after.cpu())  # expect: xla-value-read
    """,
    "torch_xla handed on": """
        from importlib import import_module

        class Runtime:
            def __init__(self, backend):
                self.backend = backend

            def size(self):
                return self.backend.xrt_world_size()  # expect: xla-removed-api

        Runtime(xm).size()

        def size(module):
            return module.xrt_world_size()  # expect: xla-removed-api

        size(import_module("torch_xla.core.xla_model"))
        size(getattr(torch_xla.core, "xla_model"))
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)


def test_a_helper_that_is_called_more_often_than_it_is_followed() -> None:
    """What all its earlier calls returned is what the next one does, if they returned one kind of thing."""
    work = "\n".join(f"    y = y + {number}" for number in range(120))
    calls = "\n".join(f"scaled(t, nn.Linear({number}, 4)), mixed(t, [nn.Linear({number}, 4)])" for number in range(30))
    verify(
        f"""
def scaled(x, scale):
    y = x * 1
{work}
    return y

def mixed(x, scale):
    y = x * 1
{work}
    return {{"x": y}}

{calls}
last = scaled(t, probe)
probe.value(last)  # is: device tensor
probe.value(mixed(t, probe))  # is: unknown
for _ in range(9):
    print(scaled(t, probe.other).sum().item())  # expect: xla-value-read
    torch_xla.sync()
"""
    )
