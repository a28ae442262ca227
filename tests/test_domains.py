"""Which rules speak in modules that never name XLA."""

from __future__ import annotations

from pathlib import Path

import pytest

from xla_lint.engine import Settings, check_module
from xla_lint.program.project.project import Project
from xla_lint.program.project.scope import Domain, Scope
from xla_lint.program.project.source import parse
from xla_lint.program.project.statements import may_take_part, stated_by
from xla_lint.rules import all_rules

SCRIPT = """\
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator()
model = nn.Linear(6, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(torch.randn(28, 6), torch.randn(28, 1)), batch_size=8)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for x, y in loader:
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    print(loss.item())
"""


def symbols(text: str) -> set[str]:
    return {finding.rule.symbol for finding in check_module(parse(text, "train.py"), Project(), Settings())}


def test_accelerate_rules_alone_speak_outside_an_xla_program() -> None:
    assert symbols(SCRIPT) == {"xla-accelerate-backward"}


def test_every_rule_speaks_inside() -> None:
    assert symbols("import torch_xla\n" + SCRIPT) >= {"xla-accelerate-backward", "xla-value-read", "xla-ragged-batch"}


@pytest.mark.parametrize(
    ("source", "domain"),
    [
        ("from accelerate import Accelerator", {Domain.ACCELERATE}),
        ("import accelerate\naccelerate.Accelerator()", {Domain.ACCELERATE}),
        ("from accelerate.utils import set_seed", set()),
        ("import torch_xla", {Domain.XLA}),
        ("import torch", set()),
    ],
)
def test_imports_decide_the_domain(source: str, domain: set[Domain]) -> None:
    assert stated_by(parse(source, "train.py"), Scope.AUTO) == domain


def test_the_bytes_show_a_module_that_builds_an_accelerator() -> None:
    assert may_take_part(SCRIPT.encode(), Scope.AUTO)
    assert not may_take_part(b"import torch", Scope.AUTO)


def test_the_families_outside_are_those_of_the_frameworks() -> None:
    families = {rule.__module__.split(".")[-2] for rule in all_rules() if rule.domain is Domain.ACCELERATE}
    assert families == {"accelerate"}


@pytest.mark.parametrize(
    ("script", "helper", "means"),
    [
        ("import middle", "import torch_xla", True),
        ("def main():\n    import middle", "import torch_xla", False),
        ("import middle", "try:\n    import torch_xla\nexcept ImportError:\n    pass", False),
        ("import middle", "import lightning\nlightning.Trainer(accelerator='tpu')", True),
        ("def main():\n    import torch_xla", "", True),
    ],
)
def test_what_a_script_cannot_do_without_makes_it_an_xla_program(
    tmp_path: Path, script: str, helper: str, means: bool
) -> None:
    for name, text in {"main.py": script, "middle.py": "from helper import *", "helper.py": helper}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert Project(tmp_path).membership(tmp_path / "main.py").commits_to_xla is means
