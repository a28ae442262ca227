"""What a program does does not depend on which branch stands first, nor on the order of statements that commute."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.transforms import exchanged, reformatted, signatures, turned
from xla_lint.program.project.source import decode, read

ROOT = Path(__file__).parent.parent
WRITTEN = sorted(path for folder in ("fixtures", "programs", "guides") for path in (ROOT / folder).rglob("*.py"))


def told(source: str) -> Counter[tuple[str, str]]:
    """Each finding's symbol and the functions around it: the test of a branch is spelled otherwise when turned."""
    return Counter((symbol, around) for symbol, around, _ in signatures(source))


def rewritten(transform: Callable[[str, random.Random], str]) -> list[Path]:
    """The files that a transform changes."""
    chance = random.Random(0)
    return [p for p in WRITTEN if transform(source := decode(read(p)), chance) != reformatted(source, chance)]


@pytest.mark.parametrize("path", rewritten(turned), ids=lambda path: str(path.relative_to(ROOT)))
def test_which_branch_stands_first_decides_nothing(path: Path) -> None:
    source = decode(read(path))
    assert told(turned(source, random.Random(0))) == told(source)


@pytest.mark.parametrize("path", rewritten(exchanged), ids=lambda path: str(path.relative_to(ROOT)))
def test_which_of_two_independent_statements_stands_first_decides_nothing(path: Path) -> None:
    source = decode(read(path))
    assert told(exchanged(source, random.Random(0))) == told(source)


@pytest.mark.parametrize("value", ["made if flag else given", "given if flag else made"])
def test_a_choice_of_two_tensors_is_one_whatever_stands_first(value: str) -> None:
    source = f"""
import os
import torch
import torch_xla
device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
flag = os.environ.get("A")
for step in range(9):
    made, given = torch.zeros(3).to(device), model(torch.ones(4, device=device))
    chosen = {value}
    print(chosen)
    torch_xla.sync()
"""
    assert ("xla-print-tensor", "") in told(source)


@pytest.mark.parametrize("first", [True, False])
def test_a_text_on_one_path_hides_no_tensor_on_the_other(first: bool) -> None:
    sides = ("loss", '"start"') if first else ('"start"', "loss")
    source = f"""
import torch
import torch_xla
device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
for step in range(9):
    loss = model(torch.ones(4, device=device)).mean()
    shown = {sides[0]} if step {">" if first else "=="} 0 else {sides[1]}
    print(shown)
    torch_xla.sync()
"""
    assert ("xla-print-tensor", "") in told(source)
