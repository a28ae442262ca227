"""Every command that the documentation shows does what it says, in a project like a user's."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", *DOCS.glob("*.md")])
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)
ELSEWHERE = ("pip install ", "xla-lint run ", "xla-lint compare ", "xla-lint server")
"""How commands begin that need the network, torch_xla or an editor: other tests run their like."""
SCRIPT = re.search(r"```python\n(import torch\n.*?)```", (DOCS / "start.md").read_text(encoding="utf-8"), re.DOTALL)
assert SCRIPT is not None


def commands(page: Path) -> list[str]:
    """The commands that a page shows to be typed."""
    blocks = CONSOLE.findall(page.read_text(encoding="utf-8"))
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project under git, on a branch of its own, with a script, a package, a notebook and an editor's buffer."""
    script = SCRIPT[1] if SCRIPT is not None else ""
    (tmp_path / "src").mkdir()
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "mine"\ndependencies = ["torch_xla>=2.9"]\n')
    (tmp_path / "train.py").write_text(script)
    (tmp_path / "buffer").write_text(script)
    old = script.replace("import torch_xla\n", "import torch_xla\nimport torch_xla.core.xla_model as xm\n")
    (tmp_path / "src" / "old.py").write_text(old.replace("torch_xla.sync()", "xm.mark_step()"))
    cell = {"cell_type": "code", "source": script, "metadata": {}, "outputs": [], "execution_count": None}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "train.ipynb").write_text(json.dumps(notebook))
    name = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    commit = [*name, "commit", "-qm", "x"]
    for arguments in (["init", "-q", "-b", "main"], ["add", "."], commit, ["switch", "-qc", "y"]):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    return tmp_path


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Type a command in a folder, with the programs of this environment and a cache of its own."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "XDG_CACHE_HOME": str(folder / ".cache")}
    return subprocess.run(["bash", "-c", command], cwd=folder, env=env, capture_output=True, text=True, check=False)


def worked(command: str, status: int) -> bool:
    """Whether an exit status says that a command did its work: findings are part of it."""
    if "pylint" in command:
        return status & (32 | 1) == 0
    return status in ((0, 1) if command.startswith("xla-lint") else (0,))


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=lambda page: page.name)
def test_commands_work(page: Path, project: Path) -> None:
    for command in commands(page):
        if not command.startswith(ELSEWHERE):
            run("git checkout -q .", project)
            done = run(command, project)
            assert worked(command, done.returncode), f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"


def test_the_first_page_shows_what_the_command_prints(project: Path) -> None:
    done = run("xla-lint check train.py", project)
    assert done.returncode == 1
    assert done.stdout.strip() in (DOCS / "start.md").read_text(encoding="utf-8")


def test_what_the_first_page_says_to_write_instead_is_clean(project: Path) -> None:
    assert SCRIPT is not None
    mended = SCRIPT[1].replace("running = 0.0", "total = torch.zeros((), device=device)")
    mended = mended.replace("running += loss.item()", "total += loss.detach()").replace("running /", "total.item() /")
    (project / "train.py").write_text(mended)
    done = run("xla-lint check train.py", project)
    assert (done.returncode, done.stdout) == (0, "")
