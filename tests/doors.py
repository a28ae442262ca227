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


def pylint(*arguments: str | Path, messages: tuple[str, ...] = ONLY_XLA) -> list[Message]:
    """What pylint reports with the plugin, and with no other checker unless `messages` says so."""
    reporter = CollectingReporter()
    options = ("--load-plugins=xla_lint", "--persistent=n", *messages)
    Run([*options, *map(str, arguments)], reporter=reporter, exit=False)
    return reporter.messages
