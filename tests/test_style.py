"""The code is formatted, free of lint, and typed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
COMMANDS = {
    "format": ("ruff", "format", "--check", "."),
    "lint": ("ruff", "check", "."),
    "types": ("mypy",),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_style(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *COMMANDS[name]], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
