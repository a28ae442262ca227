"""What linting costs: pylint alone, pylint with xla_lint, the `xla-lint` command, and `ast.parse` as the floor.

    pip install --no-deps --target /tmp/tree transformers accelerate lightning
    python benchmarks/overhead.py /tmp/tree

Each contender is a process of its own and runs once a round, so that a slow spell of the machine meets all of them.
The files are copied side by side first. Their imports of each other then lead nowhere, and pylint reads nothing but
the files themselves, which makes its own part as small as it can be.

CPU seconds are user plus system time, peak memory is the largest resident set; both are medians over the rounds.
"""

from __future__ import annotations

import argparse
import compileall
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import NamedTuple

import xla_lint
from xla_lint.program.project.scope import Scope
from xla_lint.program.project.statements import may_take_part

FLOOR = """
import ast, sys
for path in sys.argv[1:]:
    with open(path, "rb") as file:
        source = file.read()
    try:
        ast.parse(source)
    except SyntaxError:
        print("no Python:", path)
"""
PACKAGE = Path(xla_lint.__file__).parent
CHEAP_CHECK = "unnecessary-semicolon"
BASE = "pylint, one check"
UNIT = 1024**2 if sys.platform == "darwin" else 1024
"""What `ru_maxrss` counts, per MiB."""


class Cost(NamedTuple):
    """What one process took."""

    cpu: float
    """User and system time in seconds."""
    memory: float
    """Peak resident set in MiB."""


def contenders(config: str) -> dict[str, list[str]]:
    """The commands to compare, each to be given a list of files."""
    pylint = [sys.executable, "-m", "pylint", f"--rcfile={config}", "--persistent=n", "--disable=all"]
    return {
        "ast.parse": [sys.executable, "-c", FLOOR],
        BASE: [*pylint, f"--enable={CHEAP_CHECK}"],
        "the same with xla_lint": [*pylint, "--load-plugins=xla_lint", f"--enable={CHEAP_CHECK},xla-lint"],
        "xla-lint check": [sys.executable, "-m", "xla_lint", "check", "--no-cache"],
    }


def run(command: list[str]) -> Cost:
    """Run a command to its end, and tell what it and its children took.

    Python's bytecode is compiled before, as that of an installed package is.

    Raises:
        RuntimeError: it was killed, or it could not read its command line.
    """
    compileall.compile_dir(PACKAGE, quiet=1)
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        text = errors.read().decode(errors="replace")
    if process.returncode < 0 or process.returncode >= 32 or "Traceback" in text or "usage:" in text:
        raise RuntimeError(f"{command[:6]} ended with {process.returncode}: {text[-2000:]}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / UNIT)


def sample(files: list[Path], limit: int) -> list[Path]:
    """At most `limit` files, evenly spread over the list."""
    step = max(1, -(-len(files) // limit))
    return files[::step]


def copied(files: list[Path], folder: Path) -> list[Path]:
    """Copy files into one folder, each under a name of its own."""
    folder.mkdir()
    return [
        Path(shutil.copyfile(path, folder / f"f{number:05}_{path.name}")) for number, path in enumerate(files, start=1)
    ]


def compare(title: str, files: list[Path], rounds: int, config: str) -> None:
    """Run the contenders on the files, and print the medians and their ratios."""
    lines = sum(path.read_bytes().count(b"\n") for path in files)
    print(f"\n{title}: {len(files)} files, {lines:,} lines, {rounds} rounds")
    costs: dict[str, list[Cost]] = {}
    for _ in range(rounds):
        for name, command in contenders(config).items():
            costs.setdefault(name, []).append(run([*command, *map(str, files)]))
    cpu = {name: median(cost.cpu for cost in runs) for name, runs in costs.items()}
    memory = {name: median(cost.memory for cost in runs) for name, runs in costs.items()}
    print(f"{'':24}{'CPU s':>9}{'x ast.parse':>13}{'x pylint':>10}{'MiB':>8}{'x pylint':>10}")
    for name in costs:
        print(
            f"{name:24}{cpu[name]:9.2f}{cpu[name] / cpu['ast.parse']:13.2f}{cpu[name] / cpu[BASE]:10.3f}"
            f"{memory[name]:8.0f}{memory[name] / memory[BASE]:10.3f}"
        )


def main() -> int:
    """Compare on a mixed tree, and on its XLA files alone; 1 if the tree holds no XLA file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, help="a folder with a few hundred Python files, say installed packages")
    parser.add_argument("--files", type=int, default=300, help="at most so many files of the tree (default: 300)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each contender (default: 5)")
    options = parser.parse_args()
    files = sorted(path for path in options.tree.rglob("*.py") if path.stat().st_size)
    xla = [path for path in files if may_take_part(path.read_bytes(), Scope.AUTO)]
    if not xla:
        print(f"{options.tree} holds no file that mentions torch_xla", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = folder / "empty.toml"
        config.touch()
        for title, chosen in (("mixed tree", files), ("XLA files alone", xla)):
            side_by_side = copied(sample(chosen, options.files), folder / title.replace(" ", "_"))
            compare(title, side_by_side, options.rounds, str(config))
    return 0


if __name__ == "__main__":
    sys.exit(main())
