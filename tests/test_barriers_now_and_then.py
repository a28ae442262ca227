"""A barrier every few turns: reported where turns leave work to it, and only there."""

from __future__ import annotations

import textwrap

import pytest

from tests.library.cases import verify

BEFORE = """\
weight = model[0].weight.data.flatten()
gradients = {"weight": torch.ones(16, device=device)}
places = [{"name": "weight", "at": n} for n in range(99)]
"""
CASES = {
    "each turn reads what it computes": """
        for i in range(99):
            value = (weight + i).sum().item()  # expect: xla-value-read
            if i % 10 == 0:
                torch_xla.sync()
    """,
    "under a test, and into a list of numbers": """
        values = []
        for i, name in enumerate(["weight", "bias"] * 99):
            if name in gradients:
                values.append({"name": name, "value": gradients[name].sum().item()})  # expect: xla-value-read
            if i % 10 == 0:
                torch_xla.sync()
    """,
    "a result that the next turn overwrites": """
        for i in range(99):
            size = (weight * 2).norm()
            if i % 10 == 0:
                torch_xla.sync()
                print(size)  # expect: xla-periodic-read
    """,
    "a total": """
        total = torch.zeros((), device=device)
        for i in range(99):
            total = total + (weight * 2).norm()
            if i % 10 == 0:
                torch_xla.sync()  # expect: xla-conditional-sync
    """,
    "results that are kept": """
        sizes = []
        for i in range(99):
            sizes.append((weight * 2).norm())
            if i % 10 == 0:
                torch_xla.sync()  # expect: xla-conditional-sync
    """,
    "a change in place beside a read": """
        for i in range(99):
            print(weight.sum().item())  # expect: xla-value-read
            for row in (weight, gradients["weight"]):
                row.mul_(0.5)
            if i % 10 == 0:
                torch_xla.sync()  # expect: xla-conditional-sync
    """,
    "a model's own counts": """
        for i in range(99):
            with torch.no_grad():
                y = model(t)
            if i % 10 == 0:
                torch_xla.sync()  # expect: xla-conditional-sync
    """,
}


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_case(code: str) -> None:
    verify(BEFORE + textwrap.dedent(code))
