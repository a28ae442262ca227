"""What a process leaves behind, for tests without torch."""

from __future__ import annotations

from typing import Any

from xla_lint.runtime.counts import Counts
from xla_lint.runtime.exchange import State
from xla_lint.runtime.places import NOWHERE
from xla_lint.runtime.steps import BARRIER


def state(**changes: Any) -> State:
    """The state of a process that ended well, with nothing in it but the changes."""
    facts: dict[str, Any] = {
        "pid": 41,
        "arguments": ["train.py"],
        "cwd": "",
        "at": 1.0,
        "ended": True,
        "used": True,
        "counts": Counts(),
        "warm": None,
        "last": None,
        "steps": 9,
        "step": BARRIER,
        "step_place": NOWHERE,
        "warm_steps": 3,
        "barriers": 9,
        "optimizer_steps": 0,
        "optimizer_place": NOWHERE,
        "unattributed_reads": 0,
        "device": "CPU",
        "debug_file": "",
        "debug_offset": 0,
        "level": "2",
    }
    return State(**{**facts, **changes})
