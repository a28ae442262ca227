"""The two doors, called in process."""

from __future__ import annotations

from pathlib import Path

from pylint.lint import Run
from pylint.message import Message
from pylint.reporters import CollectingReporter

ONLY_XLA = ("--disable=all", "--enable=xla-lint")
TRAIN = """\
import torch_xla

for batch in loader:
    total += loss.item()
    history.extend(losses.tolist())
"""
"""Two findings of the stand-in, on lines 4 and 5; the second one has the confidence INFERENCE."""
HELPER = "def note(total, value):\n    return total + value.item()\n"
SCRIPT = """\
import torch
import torch_xla
from helper import note

device = torch_xla.device()
model = torch.nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
total = 0.0
for _ in range(10):
    loss = model(torch.randn(2, 4, device=device)).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    total = note(total, loss)
    torch_xla.sync()
"""
"""A program of two files: its one finding stands on line 2 of the helper, which is called helper.py."""


def pylint(*arguments: str | Path, messages: tuple[str, ...] = ONLY_XLA) -> list[Message]:
    """What pylint reports with the plugin, and with no other checker unless `messages` says so."""
    reporter = CollectingReporter()
    options = ("--load-plugins=xla_lint", "--persistent=n", *messages)
    Run([*options, *map(str, arguments)], reporter=reporter, exit=False)
    return reporter.messages
