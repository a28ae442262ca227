"""What the rules on `torch.compile` say beyond their fixtures: other spellings, and what only looks like a mistake."""

from __future__ import annotations

import pytest

from tests.test_native_backends import messages, symbols

MODEL = 'import functools\nimport torch\nfrom torch import nn\nmodel = nn.Linear(4, 4).to("tpu")\n'
BATCHES = (
    "from torch.utils.data import DataLoader, TensorDataset\n"
    "loader = DataLoader(TensorDataset(torch.randn(100, 4)), batch_size=8)\n"
)
USE = 'for (batch,) in loader:\n    f(batch.to("tpu"))\n'


@pytest.mark.parametrize(
    "compiled",
    [
        'f = torch.compile(model, backend="tpu")',
        "f = torch.compile(model)",
        'f = functools.partial(torch.compile, backend="tpu")(model)',
        'f = torch.compile(backend="tpu")(model)',
        'model.forward = torch.compile(model.forward, backend="tpu")\nf = model',
        'tpu = functools.partial(torch.compile, backend="tpu", dynamic=None)\n@tpu\ndef f(x):\n    return x * 2',
    ],
)
def test_a_second_size_is_seen_however_the_code_is_compiled(compiled: str) -> None:
    assert "xla-compile-dynamic" in symbols(f"{MODEL}{BATCHES}{compiled}\n{USE}")


@pytest.mark.parametrize(
    "compiled",
    [
        'f = torch.compile(model, backend="tpu", dynamic=False)',
        'f = torch.compile(model, backend="inductor")',
        'f = torch.compile(model, backend="tpu", options={"bounded_dynamism": True})',
        'torch._dynamo.config.automatic_dynamic_shapes = False\nf = torch.compile(model, backend="tpu")',
        'kwargs = dict(open("settings"))\nf = torch.compile(model, backend="tpu", **kwargs)',
    ],
)
def test_nothing_is_said_where_no_size_becomes_a_symbol(compiled: str) -> None:
    assert "xla-compile-dynamic" not in symbols(f"{MODEL}{BATCHES}{compiled}\n{USE}")


def test_neuron_compiles_anew_where_dynamic_is_left_out() -> None:
    text = f"{MODEL}{BATCHES}f = torch.compile(model)\n{USE}".replace('"tpu"', '"neuron"')
    assert symbols(text) == {"xla-ragged-batch"}
    assert "xla-compile-dynamic" in symbols(text.replace("(model)", "(model, dynamic=True)"))


def test_sizes_that_change_inside_or_grow_before_the_call() -> None:
    text = (
        'import torch\nfrom torch import nn\nmodel = nn.Linear(4, 4).to("tpu")\n'
        'f = torch.compile(lambda z: z * 2, backend="tpu")\nids = torch.zeros(1, 4, device="tpu")\n'
        "for _ in range(100):\n    ids = torch.cat([ids, model(ids)[-1:]])\n    f(ids)\n"
    )
    assert any("'ids' grows in every step" in message for message in messages(text))


@pytest.mark.parametrize(
    ("argument", "said"),
    [("step", True), ("step + 1", True), ("step / 10", False), ("float(step)", False), ("7", False)],
)
def test_an_integer_that_changes_is_a_size_too(argument: str, said: bool) -> None:
    text = (
        'import torch\n@torch.compile(backend="tpu")\ndef f(x, n):\n    return x * n\n'
        f'x = torch.ones(4, device="tpu")\nfor step in range(100):\n    f(x, {argument})\n'
    )
    assert ("xla-compile-dynamic" in symbols(text)) is said


def test_an_integer_that_only_chooses_is_none() -> None:
    text = (
        'import torch\n@torch.compile(backend="tpu")\ndef f(x, n):\n    return x + 1 if n > 50 else x\n'
        'x = torch.ones(4, device="tpu")\nfor step in range(100):\n    f(x, step)\n'
    )
    assert symbols(text) == set()


def test_a_break_is_told_once_a_line_and_only_in_compiled_code() -> None:
    text = (
        "import torch\ndef helper(x):\n    print(x, x.sum().item(), float(x.mean()))\n    return x\n"
        '@torch.compile(backend="tpu", dynamic=False)\ndef f(x):\n    return helper(x) * 2\n'
        'f(torch.ones(4, device="tpu"))\nhelper(torch.ones(4, device="tpu"))\n'
    )
    assert [message.split()[:2] for message in messages(text)] == [["3", "xla-graph-break"]]


def test_what_is_left_out_of_the_trace_is_none() -> None:
    text = (
        "import torch\n@torch.compiler.disable(recursive=False)\ndef report(x):\n    print(x.sum().item())\n"
        '@torch.compile(backend="tpu", dynamic=False)\ndef f(x):\n    report(x)\n    y = x.cpu()\n    return x * 2, y\n'
        'f(torch.ones(4, device="tpu"))\n'
    )
    assert symbols(text) == set()


def test_the_step_of_an_optimizer_may_be_compiled_by_itself() -> None:
    text = (
        'import torch\nmodel = torch.nn.Linear(2, 2).to("{}")\nbest = torch.optim.NAdam(model.parameters())\n'
        "update = torch.compile(best.step)\nfor _ in range(100):\n    best.zero_grad()\n"
        '    model(torch.ones(2, 2, device="{}")).sum().backward()\n    update()\n'
    )
    assert symbols(text.replace("{}", "tpu")) == {"xla-compile-capturable"}
    assert symbols(text.replace("{}", "neuron")) == set()
    assert symbols(text.replace("{}", "tpu").replace("parameters()", "parameters(), capturable=True")) == set()
