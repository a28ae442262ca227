"""How the cost of a check grows with what is checked: a table for each kind of growth, a line for each doubling.

    python benchmarks/growth.py
    python benchmarks/growth.py --worst

The programs are generated. Seconds are CPU time of parsing and analysing, in this process. `--worst` measures the
largest ones instead: a file of 50,000 lines, and 2,000 functions that call each other in a ring.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from xla_lint import failures
from xla_lint.engine import Settings
from xla_lint.program.project.project import Project
from xla_lint.program.project.source import parse

if TYPE_CHECKING:
    from collections.abc import Callable

HEAD = "import torch\nimport torch_xla\n\nmodel = torch.nn.Linear(3, 3).to('xla')\n"
LOOP = """\
    total = 0.0
    for data in torch.ones({number}, 3, 3, device="xla"):
        loss = model(data).sum()
        loss.backward()
        total += loss.item()
        torch_xla.sync()
"""
UNIT = 1024**2 if sys.platform == "darwin" else 1024
"""What `ru_maxrss` counts, per MiB."""


def many_functions(size: int) -> dict[str, str]:
    """A file of about `size` lines: functions with a step loop each, all of them called."""
    count = size // 8
    functions = (f"def step{n}():\n{LOOP.format(number=n)}" for n in range(count))
    return {"train.py": HEAD + "".join(functions) + "".join(f"step{n}()\n" for n in range(count))}


def long_function(size: int) -> dict[str, str]:
    """One step loop with about `size` lines in its body."""
    lines = (f"    x{n} = model(x{n - 1}) + {n}\n    if x{n - 1}.shape[0] > {n}:\n        x{n} = x{n} * 2\n"
             for n in range(1, size // 3))  # fmt: skip
    return {"train.py": HEAD + "for x0 in torch.ones(9, 3, 3, device='xla'):\n" + "".join(lines) + "    print(x0)\n"}


def deep_calls(size: int) -> dict[str, str]:
    """A step loop that calls a chain of `size` functions."""
    functions = (f"def f{n}(x):\n    y = model(x)\n    return f{n + 1}(y) + f{n + 1}(x)\n" for n in range(size))
    loop = "for x in torch.ones(9, 3, 3, device='xla'):\n    print(f0(x))\n    torch_xla.sync()\n"
    return {"train.py": HEAD + "".join(functions) + f"def f{size}(x):\n    return x\n" + loop}


def ring(size: int) -> dict[str, str]:
    """Functions that call each other in a ring, each with a step loop."""
    functions = (f"def f{n}():\n{LOOP.format(number=n)}        f{(n + 1) % size}()\n" for n in range(size))
    return {"train.py": HEAD + "".join(functions) + "f0()\n"}


def many_files(size: int) -> dict[str, str]:
    """A program of `size` files besides its script, each imported by the next."""
    files = {f"part{n}.py": f"from part{n + 1} import step{n + 1}\nimport torch\nfrom base import model\n\n\n"
             f"def step{n}():\n{LOOP.format(number=n).replace('torch_xla.sync()', f'step{n + 1}()')}"
             for n in range(size)}  # fmt: skip
    files[f"part{size}.py"] = f"def step{size}():\n    pass\n"
    return {**files, "base.py": HEAD, "train.py": "import torch_xla\nfrom part0 import step0\n\nstep0()\n"}


GROWTH: dict[str, tuple[Callable[[int], dict[str, str]], tuple[int, ...]]] = {
    "lines of a file": (many_functions, (500, 1000, 2000, 4000, 8000)),
    "lines of a function": (long_function, (100, 200, 400, 800, 1600)),
    "depth of calls": (deep_calls, (4, 8, 16, 32, 64, 128)),
    "functions in a ring": (ring, (25, 50, 100, 200, 400)),
    "files of a program": (many_files, (5, 10, 20, 40, 80, 160)),
}
WORST: dict[str, tuple[Callable[[int], dict[str, str]], int]] = {
    "a file of 50,000 lines": (many_functions, 50_000),
    "a function of 50,000 lines": (long_function, 50_000),
    "2,000 functions in a ring": (ring, 2000),
    "calls 2,000 deep": (deep_calls, 2000),
}


def cost(files: dict[str, str]) -> tuple[float, str]:
    """The CPU seconds that a check of each file takes, and what came of it."""
    with tempfile.TemporaryDirectory() as name:
        for path, text in files.items():
            Path(name, path).write_text(text, encoding="utf-8")
        Project.forget()
        begun, found = time.process_time(), 0
        for path, text in files.items():
            place = Path(name, path)
            checked = failures.check(parse(text, place), Project.around(place), Settings())
            if checked.failures:
                return time.process_time() - begun, checked.failures[0].message
            found += len(checked.findings)
        return time.process_time() - begun, f"{found} findings"


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worst", action="store_true", help="measure the largest programs")
    if parser.parse_args().worst:
        for name, (program, size) in WORST.items():
            seconds, outcome = cost(program(size))
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / UNIT
            print(f"{name:28}{seconds:8.1f} s   {outcome}, peak so far {peak:.0f} MiB", flush=True)
        return 0
    cost(many_functions(100))
    for name, (program, sizes) in GROWTH.items():
        print(f"\n{name:>20}{'CPU s':>9}{'ratio':>8}")
        before = 0.0
        for size in sizes:
            seconds, _ = cost(program(size))
            print(f"{size:>20}{seconds:9.2f}{f'{seconds / before:8.2f}' if before else '':>8}", flush=True)
            before = seconds
    return 0


if __name__ == "__main__":
    sys.exit(main())
