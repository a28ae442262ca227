"""TorchTPU and TorchNeuron: which programs are for them, in which mode, and what is said of each backend."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.test_fixtures import expected
from xla_lint.engine import Settings, check_module, default_symbols
from xla_lint.program.interpreter.aims import aims_of
from xla_lint.program.project.declarations import requirements
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import parse

LOOP = """
for step in range(100):
    loss = model(torch.ones(2, 2, device=device)).sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(loss.item())
"""
PARSER = """import argparse
parser = argparse.ArgumentParser()
group = parser.add_argument_group("run")
"""
HEAD = """
model = torch.nn.Linear(2, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""


def messages(
    text: str, backend: str | None = None, path: str = "train.py", project: Project | None = None
) -> list[str]:
    module = parse(text, Path(path))
    findings = check_module(module, project or Project(), Settings(backend=backend), default_symbols())
    return [f"{finding.node.lineno} {finding.rule.symbol} {finding.message}" for finding in findings]


def symbols(text: str, backend: str | None = None) -> set[str]:
    return {message.split()[1] for message in messages(text, backend)}


@pytest.mark.parametrize(
    "device",
    [
        'device = torch.device("tpu")',
        'device = "neuron"',
        'device = torch.device("tpu:0")',
        'device = "tpu" if torch.tpu.is_available() else "cpu"',
        'import os\ndevice = torch.device(os.environ.get("DEVICE", "neuron"))',
        PARSER + 'parser.add_argument("--device", default="tpu")\ndevice = torch.device(parser.parse_args().device)',
        PARSER + 'group.add_argument("-d", "--on", dest="place", default="tpu")\ndevice = parser.parse_args().place',
        "import torch_tpu\ndevice = torch.accelerator.current_accelerator()",
        "import torch_tpu.api\ndevice = torch_tpu.api.tpu_device()",
        'torch.set_default_device("neuron")\ndevice = torch.accelerator.current_accelerator()',
        'class Config:\n    device = "tpu"\ndevice = torch.device(Config().device)',
        'def pick(name="neuron"):\n    return torch.device(name)\ndevice = pick()',
    ],
)
def test_a_program_is_known_by_the_device_that_it_names(device: str) -> None:
    found = messages(f"import torch\n{device}\n{HEAD}{LOOP}")
    assert [message.split()[1] for message in found] == ["xla-value-read"]
    assert "the host waits for the device every step" in found[0]
    assert "execut" not in found[0]


@pytest.mark.parametrize(
    "text",
    [
        f"import torch\ndevice = torch.accelerator.current_accelerator()\n{HEAD}{LOOP}",
        f'import torch\ndevice = torch.device("cuda")\nprint("tpu")\n{HEAD}{LOOP}',
        f'import torch\nimport torch_tpu\ntorch_tpu.tpu.set_device(0)\ndevice = torch.device("tpu")\n{HEAD}{LOOP}',
        f'import torch\ndevice = torch.device("tpu")\ntorch.distributed.init_process_group("scclHost")\n{HEAD}{LOOP}',
        f'import torch\nmodel = torch.neuron.trace(torch.nn.Linear(2, 2), torch.ones(2))\ndevice = "cpu"\n{LOOP}',
        f'import jax\nimport torch\ndevice = "cpu"\njax.devices("tpu")\n{HEAD}{LOOP}',
    ],
)
def test_other_programs_are_left_alone(text: str) -> None:
    assert messages(text) == []


def test_the_user_may_say_what_a_program_is_for() -> None:
    text = f"import torch\ndevice = torch.accelerator.current_accelerator()\n{HEAD}{LOOP}"
    assert symbols(text, "torch_neuron") == {"xla-value-read"}


def test_neuronx_alone_is_for_torch_xla_until_its_release_says_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    text = "import torch\nimport torch_neuronx\n"
    path.write_text(text, encoding="utf-8")

    def backend(release: str) -> str:
        (tmp_path / "requirements.txt").write_text(f"torch-neuronx=={release}\n", encoding="utf-8")
        requirements.cache_clear()
        Project.forget()
        return aims_of(parse(text, path), Project.around(str(path)), None).sure[0].backend.name

    assert [backend(release) for release in ("2.8", "2.14")] == ["torch_xla", "torch_neuron"]


def test_a_package_of_two_backends_is_for_the_one_whose_device_is_named_by_a_variable() -> None:
    head = "import torch\nimport torch_neuronx\n"
    assert "waits for the device" in messages(f'{head}device = "neuron"\n{HEAD}{LOOP}')[0]
    assert symbols(f'{head}kind = "neuron"\ndevice = torch_neuronx.xla_impl.device()\n{HEAD}{LOOP}') == set()


def test_a_function_that_is_given_its_optimizer_is_a_step_and_one_that_builds_it_is_none() -> None:
    body = """    loss = model(torch.ones(2, 2, device="tpu")).sum()
    loss.backward()
    optimizer.step()
    print(loss.item())
"""
    assert symbols(f"import torch\ndef step(model, optimizer):\n{body}") == {"xla-value-read"}
    built = "    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    assert symbols(f"import torch\ndef step(model):\n{built}{body}") == set()


def test_an_accelerator_of_torch_is_none_of_torch_xla() -> None:
    text = f"import torch\nimport torch_neuronx\ndevice = torch.accelerator.current_accelerator()\n{HEAD}{LOOP}"
    assert symbols(text) == {"xla-value-read"}


def test_the_mode_decides_what_a_read_costs() -> None:
    fused = 'import os\nos.environ["TORCH_TPU_DEFER_AND_FUSE"] = "1"\n'
    named = "from torch_tpu._internal import execution_mode as em\nem.eager_mode = em.EagerMode.DEFER_AND_FUSE\n"
    for mode in (fused, named):
        [message] = messages(f'{mode}import torch\ndevice = torch.device("tpu")\n{HEAD}{LOOP}')
        assert "the fused group of operations ends there every step" in message
    late = f'import os, torch\ndevice = torch.device("tpu")\n{HEAD}os.environ["TORCH_TPU_DEFER_AND_FUSE"] = "1"\n{LOOP}'
    assert {message.split()[1] for message in messages(late)} == {"xla-ineffective-env", "xla-value-read"}
    assert not any("fused group" in message for message in messages(late))


def test_only_a_backend_that_replaces_parameters_makes_an_optimizer_stale() -> None:
    text = (
        "import torch\nmodel = torch.nn.Linear(2, 2)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        'device = torch.device("{}")\nmodel.to(device)\n' + LOOP.replace("print(loss.item())", "")
    )
    assert symbols(text.replace("{}", "tpu")) == {"xla-stale-optimizer"}
    assert symbols(text.replace("{}", "neuron")) == set()


BOTH = """
import torch
try:
    import torch_xla
    HAS_XLA = True
except ImportError:
    HAS_XLA = False

device = torch_xla.device() if HAS_XLA else torch.device("tpu")
model = torch.nn.Linear(2, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(100):
    loss = model(torch.ones(2, 2, device=device)).sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if HAS_XLA:
        torch_xla.sync()
        print(loss.item())  # expect: xla-late-read
    else:
        print(loss.item())  # expect: xla-value-read
"""


def test_each_branch_is_judged_for_its_own_backend() -> None:
    found = {(int(message.split()[0]), message.split()[1]) for message in messages(BOTH)}
    assert found == expected(BOTH)


def test_one_backend_may_be_chosen_of_several() -> None:
    assert symbols(BOTH, "torch_tpu") == {"xla-value-read"}
    assert symbols(BOTH, "torch_xla") == {"xla-late-read"}


def test_what_is_of_torch_xla_is_named_where_a_program_moves() -> None:
    text = "import torch_xla\ndevice = torch_xla.device()\ntorch_xla.sync()\n"
    assert messages(text) == []
    found = messages(text, "torch_neuron")
    assert [message.split()[:2] for message in found] == [["2", "xla-migrate"], ["3", "xla-migrate"]]
    assert 'write torch.device("neuron")' in found[0]
    assert "drop it" in found[1]


def test_the_same_offsets_in_every_step_are_fine() -> None:
    decode = 'import torch\nmodel = torch.nn.Linear(2, 2).to("tpu")\ncache = torch.zeros(2, 64, device="tpu")\n'
    once = "for t in range(64):\n    cache[:, t] = model(torch.ones(2, 2, device='tpu'))[:, 0]\n"
    assert symbols(decode + once) == {"xla-changing-constant"}
    assert symbols(decode.replace("tpu", "neuron") + once.replace("tpu", "neuron")) == set()
    train = (
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nfor step in range(100):\n    total = 0\n"
        "    for t in range(0, 64, 16):\n        total = total + model(cache[:, t : t + 16].reshape(-1, 2)).sum()\n"
        "    total.backward()\n    optimizer.step()\n    optimizer.zero_grad()\n"
    )
    assert symbols(decode + train) == set()


COUNTED = (
    "import torch\n{head}"
    + HEAD
    + """
for step in range(100):
    x = model(torch.ones(2, 2, device=device))
    {line}
    x.sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""
)


@pytest.mark.parametrize(
    ("line", "tpu", "neuron"),
    [
        ("x[x > 0] = 0.0", True, False),
        ("x[:, x[0] > 0] = float('-inf')", True, False),
        ("x[x > 0] = model(x)[x > 0]", True, True),
        ("y = torch.histc(x, 10)", True, False),
        ("y = torch.nn.functional.ctc_loss(x, y, a, b)", True, False),
        ("y = x.nonzero()", True, True),
        ("y = torch.topk(x, 1)", False, False),
    ],
)
def test_what_is_compiled_for_a_count_is_told_of_each_backend(line: str, tpu: bool, neuron: bool) -> None:
    for device, is_told in (("tpu", tpu), ("neuron", neuron)):
        found = symbols(COUNTED.format(head=f'device = torch.device("{device}")', line=line))
        assert found == ({"xla-data-dependent-shape"} if is_told else set())


@pytest.mark.parametrize(
    ("asked", "is_told"),
    [
        ("TpuBackend()", True),
        ("TpuBackend(dynamism=False)", True),
        ("TpuBackend(dynamism=True)", False),
        ("'tpu'", True),
        ("'tpu', options={'bounded_dynamism': True}", False),
        ("'inductor'", False),
    ],
)
def test_a_compiler_with_settings_is_the_one_of_its_backend(asked: str, is_told: bool) -> None:
    head = f"""from torch_tpu._internal.compile import TpuBackend
device = torch.device("tpu")
f = torch.compile(torch.nn.Linear(2, 2).to(device), backend={asked})
"""
    found = symbols(COUNTED.format(head=head, line="y = f(x[:, :step])"))
    assert ("xla-compile-dynamic" in found) == is_told


def test_a_text_makes_no_program_of_torch_tpu_of_one_that_asks_torch_xla() -> None:
    text = """import torch
from torch.utils.data import DataLoader
KINDS = ["cpu", "tpu"]
def worker(index):
    import torch_xla.core.xla_model as xm
    device = xm.xla_device()
    model = torch.nn.Linear(2, 2).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in DataLoader(torch.ones(100, 2), batch_size=4, drop_last=True):
        loss = model(x.to(device)).sum()
        loss.backward()
        xm.optimizer_step(optimizer, barrier=True)
        optimizer.zero_grad()
def launch():
    import torch_xla.distributed.xla_multiprocessing as xmp
    xmp.spawn(worker)
{"tpu": launch}[input()]()
"""
    (sampler,) = (message for message in messages(text) if "xla-missing-sampler" in message)
    assert "num_replicas=xr.world_size()" in sampler
    both = text.replace("(worker)", '(worker)\n    torch.ones(2).to("tpu")')
    assert any("num_replicas=dist.get_world_size()" in message for message in messages(both))
