"""What a name stands for is told by its import, never by its spelling."""

from __future__ import annotations

import textwrap

import pytest

from xla_lint.engine import Settings, check_module
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import parse

SAVING = """
import torch
import torch_xla
{imported}

def keep(on_xla):
    model = torch.nn.Linear(4, 1).to(torch_xla.device())
    if on_xla:
        {call}
    else:
        torch.save(model.state_dict(), "model.pt")

keep(input())
"""


def symbols(text: str) -> set[str]:
    module = parse(textwrap.dedent(text), "train.py")
    return {finding.rule.symbol for finding in check_module(module, Project(), Settings())}


@pytest.mark.parametrize(
    ("imported", "call", "reported"),
    [
        ("import torch_xla.core.xla_model as xm", "xm.save(model.state_dict(), 'model.pt')", False),
        ("import torch_xla.core.xla_model as model_of_xla", "model_of_xla.save(model.state_dict(), 'model.pt')", False),
        ("from torch_xla.core import xla_model", "xla_model.save(model.state_dict(), 'model.pt')", False),
        ("import torch_xla.utils.serialization as xser", "xser.save(model.state_dict(), 'model.pt')", False),
        ("import xmlstore as xm", "xm.save('settings.xml')", True),
    ],
)
def test_a_save_beside_torch_xla_s_own_is_for_other_devices(imported: str, call: str, reported: bool) -> None:
    assert ("xla-torch-save" in symbols(SAVING.format(imported=imported, call=call))) is reported
