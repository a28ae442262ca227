"""The commands of the documentation that run programs do so, in a project like a user's."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runtime.running import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMAND = re.compile(r"^\$ (xla-lint (?:run|compare) .*)$", re.MULTILINE)
COMMANDS = [command for page in PAGES for command in COMMAND.findall(page.read_text(encoding="utf-8"))]
SCRIPT = re.search(r"```python\n(import torch\n.*?)```", (ROOT / "docs" / "start.md").read_text("utf-8"), re.DOTALL)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with two scripts and a package that has a third; `xla-lint` is to be found beside it."""
    folder = tmp_path_factory.mktemp("project")
    assert SCRIPT is not None
    for name in ("train.py", "eval.py", "my_package/train.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(SCRIPT[1].replace("range(100)", "range(5)"))
    command = folder / "bin" / "xla-lint"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m xla_lint "$@"\n')
    command.chmod(0o755)
    return folder


def test_there_are_commands() -> None:
    assert {command.split()[1] for command in COMMANDS} == {"run", "compare"}


@pytest.mark.parametrize("command", COMMANDS)
def test_it_works(command: str, project: Path) -> None:
    programs = [str(project / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
    env = {**os.environ, "PATH": os.pathsep.join(programs), "PYTHONPATH": str(ROOT), "PJRT_DEVICE": "CPU"}
    done = subprocess.run(["bash", "-c", command], cwd=project, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "xla-lint" in done.stdout + done.stderr
