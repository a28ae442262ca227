"""What people write around the pitfalls: helpers that look names up, flags, tables, wrappers, other libraries."""

from __future__ import annotations

import textwrap

import pytest

from tests.library.cases import HEAD, verify
from xla_lint.engine import Settings, check_module
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import parse

CASES = {
    "a name looked up in several modules": """
        def pick(*candidates):
            for module, name in candidates:
                if module is not None and hasattr(module, name):
                    return getattr(module, name)
            raise RuntimeError("no such name")

        cut = pick((torch_xla, "no_such_name"), (torch_xla, "sync"), (xm, "mark_step"))
        place = None
        for name in ("device", "xla_device"):
            try:
                place = getattr(torch_xla, name)()
                break
            except AttributeError:
                continue
        probe.value(hasattr(torch_xla, "sync"))  # is: True fact
        probe.value(hasattr(xm, "get_ordinal"))  # is: False fact
        probe.value(hasattr(torch, "compile"))  # is: number
        for x in loader:
            loss = update(x)
            cut()
            print(loss.item())  # expect: xla-late-read
    """,
    "flags that a module states once": """
        DEBUG = False
        VERBOSE = True
        for x in loader:
            loss = update(x)
            if DEBUG:
                print(loss.item())
            if DEBUG and loss.isnan().any():
                break
            if not VERBOSE or DEBUG:
                print(loss.item())
            if VERBOSE:
                print(loss.item())  # expect: xla-value-read
    """,
    "flags that something sets, that choose the device, or that are parameters": """
        LOUD, ON_DEVICE, PLAIN = False, False, False
        QUIET = True
        USE_XLA = False
        if len(sys.argv) > 1:
            QUIET = False
        net = nn.Linear(4, 1).to(torch_xla.device() if USE_XLA else "cpu")

        def log(loss, FULL=False):
            if not QUIET:
                print(loss.item())  # expect: xla-value-read
            if FULL:
                print(loss.item())  # expect: xla-value-read

        for x in loader:
            log(update(x), len(x) > 3)
            if USE_XLA:
                print(net(x).sum().item())  # expect: xla-value-read
    """,
    "flags that a configurator may set": """
        VERBOSE = False
        exec(open("configurator.py").read())
        for x in loader:
            loss = update(x)
            if VERBOSE:
                print(loss.item())  # expect: xla-value-read
    """,
    "a flag that a test sets now and then": """
        for step, x in enumerate(loader):
            loss = update(x)
            show, skip = False, True
            if step % 50 == 0:
                show = True
            if show:
                print(loss.item())  # expect: xla-periodic-read
            if step % 20 == 0:
                skip = False
            if not skip:
                print(loss.item())  # expect: xla-periodic-read
            other = False
            if step > 5:
                other = True
            if other:
                print(loss.item())  # expect: xla-value-read
    """,
    "the name of the device decides what is not for it": """
        name = "xla"
        kind = "cuda" if "cuda" in name else "xla"

        def build(net, device_type):
            fused = device_type == "cuda"
            if device_type == "cuda":
                return torch.optim.AdamW(net.parameters(), fused=True)
            return torch.optim.AdamW(net.parameters(), fused=fused)

        probe.value(build(model, kind))  # is: AdamW
        torch.optim.AdamW(model.parameters(), fused=True)  # expect: xla-unsupported-call
    """,
    "tables of numbers": """
        import numpy as np
        WEIGHTS = [0.1, 0.2, 0.7]
        SEEN = []

        class Schedule:
            def __init__(self, steps, rows):
                self.betas = np.linspace(1e-4, 0.02, steps)
                self.products = np.cumprod(1.0 - self.betas)
                self.rows = np.array(rows)
                self.buffer = np.zeros(steps)

            def noise(self, x):
                self.buffer[3] = 1
                first = torch.from_numpy(self.products).to(x.device)  # expect: xla-host-tensor
                second = torch.tensor(self.betas, device=x.device)  # expect: xla-host-tensor
                third = torch.from_numpy(self.rows).to(x.device)  # expect: xla-host-tensor
                changed = torch.tensor(self.buffer, device=x.device)
                return x * first.sum() * second.sum() * third.sum() * changed.sum()

        class Batch:
            def __init__(self, rows):
                self.rows = np.array(rows)

            def tensor(self):
                return torch.from_numpy(self.rows).to(device)

        schedule = Schedule(1000, sys.argv)
        for x in loader:
            SEEN.append(3.0)
            weights = torch.tensor(WEIGHTS, device=device)  # expect: xla-host-tensor
            seen = torch.tensor(SEEN, device=device)
            small = torch.tensor([1.0, 2.0], device=device)
            own = Batch(sys.argv).tensor()
            update(schedule.noise(x.to(device)) * weights.sum() * seen.sum() * small.sum() * own.sum())
    """,
    "tables that are handed to helpers": """
        import numpy as np
        BETAS = np.linspace(1e-4, 0.02, 1000)

        def take(table, t, shape):
            found = torch.from_numpy(table).to(device=t.device)[t].float()  # expect: xla-host-tensor
            return found.expand(shape)

        def weigh(rows, *, scale):
            return torch.as_tensor(rows, device=device) * torch.tensor(scale, device=device)  # expect: xla-host-tensor

        def change(table):
            table = table + 1.0
            return torch.from_numpy(table).to(device)

        def shuffled(order):
            return torch.from_numpy(order).to(device)

        class Diffusion:
            def __init__(self, betas):
                betas = np.array(betas, dtype=np.float64)
                self.products = np.cumprod(1.0 - betas)
                self.roots = np.sqrt(self.products) if len(betas) > 1 else np.ones(1)
                self.order = np.arange(len(betas))

            def noisy(self, x, t):
                np.random.shuffle(self.order)
                rest = change(self.products) + shuffled(self.order)
                return take(self.roots, t, x.shape) * x + rest

        diffusion = Diffusion(BETAS)
        for rows, x in zip(sys.argv, loader):
            t = torch.randint(0, 1000, (2,), device=device)
            update(diffusion.noisy(x, t) * weigh(rows, scale=BETAS))
    """,
    "wrappers that move the parameters": """
        from torch_xla.distributed.fsdp import XlaFullyShardedDataParallel as FSDP
        from torch_xla.experimental.spmd_fully_sharded_data_parallel import SpmdFullyShardedDataParallel as FSDPv2

        first = FSDP(nn.Linear(4, 1))
        optimizer = torch.optim.SGD(first.parameters(), lr=0.1)
        first.to(device)
        second = FSDPv2(nn.Linear(4, 1))
        other = torch.optim.SGD(second.parameters(), lr=0.1)
        second = second.to(device)
        plain = nn.Linear(4, 1)
        early = torch.optim.SGD(plain.parameters(), lr=0.1)  # expect: xla-stale-optimizer
        plain = FSDP(plain)
        for x in loader:
            plain(second(first(x))).sum().backward()
            for each in (optimizer, other, early):
                each.step()
    """,
    "parts of ready-made models, and what they give": """
        from diffusers import AutoencoderKL, UNet2DConditionModel
        from transformers import AutoModelForCausalLM
        vae = AutoencoderKL.from_pretrained("vae").to(device)
        unet = UNet2DConditionModel.from_pretrained("unet").to(device)
        writer = AutoModelForCausalLM.from_pretrained("gpt2").to(device)
        probe.value(vae.decode(t).sample)  # is: device output
        probe.value(unet(t, 3).sample)  # is: device output
        probe.value(writer.transformer(t)[0])  # is: device tensor
        probe.value(writer.get_input_embeddings())  # is: device model Module
        probe.value(writer.prepare_inputs_for_generation(t))  # is: unknown
        written = writer.generate(t, return_dict_in_generate=True)  # expect: xla-dynamic-generate
        probe.value(written.sequences)  # is: device output
        other = probe.other().to(device)
        probe.value(other.decode(t).sample)  # is: device output
    """,
}


def test_a_read_of_what_was_sent_is_told_from_one_after_a_barrier() -> None:
    code = """
    for x in loader:
        x = x.to(device)
        print(x.cpu())
        loss = update(x)
        torch_xla.sync()
        print(loss.cpu())
    """
    text = HEAD + textwrap.dedent(code)
    found = check_module(parse(text, "train.py"), Project(), Settings(), frozenset({"xla-late-read"}))
    told = [finding.message for finding in found]
    assert ["waits for a transfer" in text for text in told] == [True, False]
    assert ["after the barrier" in text for text in told] == [False, True]


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(code)
