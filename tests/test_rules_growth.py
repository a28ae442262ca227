"""Rules look events up: twice as many events of one kind are about twice the work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import growth
import pytest

from tests.test_growth import work

HEAD = "import torch\nimport torch_xla\nimport torch_xla.core.xla_model as xm\n"


def cuda_defaults(size: int) -> dict[str, str]:
    """Functions with a device for CUDA as a default."""
    lines = (f"def f{n}(x, device=torch.device('cuda')):\n    return x.to(device)\n" for n in range(size))
    return {"train.py": HEAD + "".join(lines)}


def noise_from_the_host(size: int) -> dict[str, str]:
    """A step that builds tensors on the host and moves them."""
    lines = (f"    y{n} = torch.randn(4).to(device)\n" for n in range(size))
    head = "device = torch_xla.device()\nw = torch.zeros(4, device=device, requires_grad=True)\nfor step in range(9):\n"
    tail = "    (w * y0).sum().backward()\n    torch_xla.sync()\n"
    return {"train.py": HEAD + head + "".join(lines) + tail}


def unprepared_models(size: int) -> dict[str, str]:
    """A training loop under an `Accelerator` that calls models which were not prepared."""
    head = "from accelerate import Accelerator\naccelerator = Accelerator()\n"
    models = (f"m{n} = torch.nn.Linear(4, 4)\no{n} = torch.optim.SGD(m{n}.parameters(), 0.1)\n" for n in range(size))
    prepared = "model = accelerator.prepare(torch.nn.Linear(4, 4))\nx = torch.zeros(4, device=accelerator.device)\n"
    calls = (f"    y = m{n}(x)\n" for n in range(size))
    return {"train.py": HEAD + head + "".join(models) + prepared + "for step in range(9):\n" + "".join(calls)}


def collators(size: int) -> dict[str, str]:
    """Collators that pad to the longest row, and calls of the tokenizer."""
    head = "from transformers import AutoTokenizer, DataCollatorWithPadding\nt = AutoTokenizer.from_pretrained('t')\n"
    rows = (f"def rows{n}(batch):\n    return t(batch['text'], truncation=True)\n" for n in range(size))
    lines = (f"data = data{n}.map(rows{n})\nc{n} = DataCollatorWithPadding(t)\n" for n in range(size))
    return {"train.py": HEAD + head + "".join(rows) + "".join(lines)}


def rank_collectives(size: int) -> dict[str, str]:
    """Functions in each of which some replicas alone come to a meeting."""
    lines = (f"def f{n}():\n    if xm.is_master_ordinal():\n        xm.rendezvous('saved')\n" for n in range(size))
    return {"train.py": HEAD + "".join(lines)}


@pytest.mark.parametrize(
    "program", [cuda_defaults, noise_from_the_host, unprepared_models, collators, rank_collectives]
)
def test_twice_the_events_are_about_twice_the_work(program: Callable[[int], dict[str, str]], tmp_path: Path) -> None:
    work(growth.many_functions(16), tmp_path / "warm")
    work(program(2), tmp_path / "small")
    single = work(program(60), tmp_path / "single")
    double = work(program(120), tmp_path / "double")
    assert 1.5 < double / single < 2.2
