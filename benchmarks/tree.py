"""What checking whole trees costs: xla-lint cold, warm and with two processes, and what other tools take.

    python benchmarks/tree.py SITE_PACKAGES/transformers CHECKOUTS --torchfix VENV/bin/torchfix

Each contender is a process of its own, and all run in turn on the same files. CPU seconds are user plus system time,
children included; the ratios are to `ast.parse` of every file. Contenders that read every file slowly are given one
file in `--sample`, and their cost is scaled up; pylint reads the libraries that these import besides, which a small
sample makes count too often.

- relevant files: those whose bytes bear a mark of an XLA program
- warm: the second of two runs with the same cache
- one of them, and alone: one relevant file, checked where it lies after the whole tree was, and in a folder of its own
- method names: a linter that flags `.item()`, `.cpu()` and the like wherever they stand
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from overhead import CHEAP_CHECK, Cost, run

from xla_lint.cli.files import find
from xla_lint.program.project.scope import Scope
from xla_lint.program.project.statements import may_take_part

PARSE = """
import ast, sys, warnings
warnings.simplefilter("ignore")
for path in open(sys.argv[1], encoding="utf-8").read().split("\\n"):
    try:
        ast.parse(open(path, "rb").read())
    except (SyntaxError, ValueError):
        pass
"""
ASTROID = """
import sys, warnings
from astroid.builder import AstroidBuilder
from astroid.exceptions import AstroidError
from astroid.manager import AstroidManager
warnings.simplefilter("ignore")
for path in open(sys.argv[1], encoding="utf-8").read().split("\\n"):
    try:
        AstroidBuilder(AstroidManager(), apply_transforms=False).string_build(open(path, encoding="utf-8").read())
    except (AstroidError, ValueError):
        pass
"""
METHODS = """
import ast, sys, warnings
warnings.simplefilter("ignore")
NAMES = {"item", "cpu", "numpy", "tolist", "nonzero"}
for path in open(sys.argv[1], encoding="utf-8").read().split("\\n"):
    try:
        tree = ast.parse(open(path, "rb").read())
    except (SyntaxError, ValueError):
        continue
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in NAMES:
            print(f"{path}:{node.lineno}: .{node.func.attr}()")
"""


class Contender(NamedTuple):
    """A command to measure."""

    name: str
    command: list[str]
    scale: int = 1
    """Of how many files it is given one."""


def contenders(files: list[Path], folder: Path, sample: int, torchfix: str | None) -> list[Contender]:
    """The commands, in the order in which they run; `folder` holds what they need."""

    def listed(name: str, paths: list[Path]) -> str:
        (folder / name).write_text("\n".join(map(str, paths)), encoding="utf-8")
        return str(folder / name)

    python = [sys.executable, "-c"]
    every = listed("all", files)
    marked = [path for path in files if may_take_part(path.read_bytes(), Scope.AUTO)]
    relevant = listed("relevant", marked)
    one = marked[len(marked) // 2]
    alone = folder / "alone" / one.name
    alone.parent.mkdir()
    (alone.parent / "pyproject.toml").touch()
    alone.write_bytes(one.read_bytes())
    few = [str(path) for path in files[::sample]]
    (folder / "empty.toml").touch()
    lint = [sys.executable, "-m", "xla_lint", "check", "--format=concise"]
    check = [*lint, *map(str, files)]
    pylint = [sys.executable, "-m", "pylint", f"--rcfile={folder / 'empty.toml'}", "--persistent=n", "--disable=all"]
    cached = f"--cache-dir={folder / 'cache'}"
    found = [
        Contender("ast.parse, all files", [*python, PARSE, every]),
        Contender("astroid, relevant files", [*python, ASTROID, relevant]),
        Contender("xla-lint check, cold", [*check, "--jobs=1", cached]),
        Contender("xla-lint check, warm", [*check, "--jobs=1", cached]),
        Contender("one of them, warm", [*lint, cached, str(one)]),
        Contender("alone, cold", [*lint, cached, str(alone)]),
        Contender("alone, warm", [*lint, cached, str(alone)]),
        Contender("xla-lint check, cold, -j 2", [*check, "--jobs=2", "--no-cache"]),
        Contender("method names", [*python, METHODS, every]),
        Contender("pylint, one check", [*pylint, f"--enable={CHEAP_CHECK}", *few], sample),
    ]
    if torchfix:
        found.append(Contender("TorchFix", [torchfix, "--jobs=1", *few], sample))
    return found


def compare(found: list[Contender]) -> None:
    """Run the contenders in turn, and print what each took."""
    print(f"{'':28}{'CPU s':>9}{'x ast.parse':>13}{'peak MiB':>10}")
    base: Cost | None = None
    for name, command, scale in found:
        cost = run(command)
        base = base or cost
        cpu = cost.cpu * scale
        note = f"  (1 file in {scale})" if scale > 1 else ""
        print(f"{name:28}{cpu:9.2f}{cpu / base.cpu:13.2f}{cost.memory:10.0f}{note}", flush=True)


def main() -> int:
    """Compare on the files below some folders."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="FOLDER", help="folders with thousands of Python files")
    parser.add_argument("--sample", type=int, default=50, help="slow contenders read one file in so many (default: 50)")
    parser.add_argument(
        "--torchfix", metavar="PATH", help="the torchfix command, installed in an environment of its own"
    )
    options = parser.parse_args()
    files = [path for path in find(options.folders, lambda _: "").files if path.suffix == ".py"]
    lines = sum(path.read_bytes().count(b"\n") for path in files)
    print(f"{len(files)} files, {lines:,} lines")
    if not options.torchfix:
        print("TorchFix is left out: pip install torchfix in an environment of its own, and name it by --torchfix")
    with tempfile.TemporaryDirectory() as name:
        compare(contenders(files, Path(name), options.sample, options.torchfix))
    return 0


if __name__ == "__main__":
    sys.exit(main())
