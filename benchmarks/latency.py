"""How long a change in an editor waits for its findings: the server, and one run of a command for each change.

    python benchmarks/latency.py
    python benchmarks/latency.py --python VENV_WITH_TORCH/bin/python

The project is generated: 200 files, four programs that share a module of 500 lines, which is edited. All is measured in
turn in one run, so that a slow spell of the machine meets all of it. The ratios are those of the medians.

- server: from the change to the findings of that text, the process being warm; CPU time is what so many changes add
  to that of a server which only opens the file
- while it works: from asking what is under the pointer to the answer, right after a change
- commands: wall and CPU time of one run over the unsaved text on standard input, as editors run linters. `--python`
  names the interpreter that runs them, with torch beside pylint, and with xla-lint to be found.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from editor import Editor, editor
from lsprotocol import types
from projects import write_project

REPOSITORY = Path(__file__).parent.parent
PYLINT = ("pylint", "--load-plugins=xla_lint", "--persistent=n")
ONLY = ("--disable=all", "--enable=xla-lint")
IGNORED = "--ignored-modules=torch,torch_xla"
SERVER = "server"


def commands(path: Path) -> dict[str, list[str]]:
    """What can be run for each change of a file."""
    return {
        "xla-lint check -": ["xla_lint", "check", "--no-cache", "-", "--stdin-filename", str(path)],
        "pylint, xla-lint alone": [*PYLINT, *ONLY, "--from-stdin", str(path)],
        "pylint with all its checks, torch ignored": [*PYLINT, IGNORED, "--from-stdin", str(path)],
        "pylint with all its checks": [*PYLINT, "--from-stdin", str(path)],
    }


async def change(window: Editor, path: Path, text: str) -> tuple[float, float]:
    """Seconds from a change to an answer to something else, and to the findings."""
    start = time.perf_counter()
    window.edit(path, text)
    asked = types.HoverParams(types.TextDocumentIdentifier(path.as_uri()), types.Position(0, 0))
    await window.client.text_document_hover_async(asked)
    answered = time.perf_counter() - start
    await window.diagnostics(path)
    return answered, time.perf_counter() - start


async def serve(folder: Path, path: Path, rounds: int) -> tuple[float, list[tuple[float, float]]]:
    """Seconds from opening a file to its findings, and what each of some changes took."""
    text = path.read_text(encoding="utf-8")
    async with editor(folder) as window:
        start = time.perf_counter()
        window.open(path)
        await window.diagnostics(path)
        opened = time.perf_counter() - start
        await change(window, path, text + "\n")
        return opened, [await change(window, path, f"{text}# {'x' * number}\n") for number in range(rounds)]


def run(command: list[str], source: bytes, folder: Path) -> tuple[float, float]:
    """Wall and CPU seconds of one run."""
    start, before = time.perf_counter(), used_by_children()
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    subprocess.run(command, input=source, cwd=folder, capture_output=True, env=environment, check=False)
    return time.perf_counter() - start, used_by_children() - before


def used_by_children() -> float:
    """CPU seconds of the processes that this one has started and that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def main() -> None:
    """Measure, and print a table."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--python", default=sys.executable, help="what runs the commands (default: this one)")
    options.add_argument("--rounds", type=int, default=10, help="changes that are measured (default: 10)")
    options.add_argument("--files", type=int, default=200)
    options.add_argument("--lines", type=int, default=500)
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        longest = write_project(folder, asked.files, asked.lines)
        asyncio.run(serve(folder, longest, 0))
        idle = used_by_children()
        opened, changes = asyncio.run(serve(folder, longest, asked.rounds))
        used = (used_by_children() - 2 * idle) / asked.rounds
        source = longest.read_bytes() + b"# typing\n"
        found = {
            label: [run([asked.python, "-m", *command], source, folder) for _ in range(3)]
            for label, command in commands(longest).items()
        }
    answered, base = (median(each[part] for each in changes) for part in (0, 1))
    print(f"{SERVER}, first findings after opening: {opened:.2f} s; while it works, other answers: {answered:.3f} s")
    print(f"\n{'':42}{'wall s':>8}{'CPU s':>8}{'wall, times the server':>26}")
    print(f"{SERVER + ', warm':42}{base:8.3f}{used:8.3f}{1:26.1f}")
    for label, costs in found.items():
        wall, cpu = (median(cost[part] for cost in costs) for part in (0, 1))
        print(f"{label:42}{wall:8.2f}{cpu:8.2f}{wall / base:26.1f}")


if __name__ == "__main__":
    main()
