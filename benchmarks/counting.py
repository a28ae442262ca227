"""What observing a run costs a step: nothing, an open `CompileCounter`, and the whole of `xla-lint run`.

    PJRT_DEVICE=CPU python benchmarks/counting.py

Blocks of steps in one process alternate between a closed and an open counter, so that a slow spell of the machine meets
both; figures are medians of CPU time over all threads. `xla-lint run` cannot be switched off in a process: processes
with and without it alternate instead, and the figure is the time on the clock that a twentieth of the steps kept, which
a busy machine disturbs least. Each step ends with a barrier that waits for the device.
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
import time
from statistics import median, quantiles
from typing import TYPE_CHECKING

from xla_lint.runtime import CompileCounter, barriers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SIZES = {"barrier": (2, 2, 0), "tiny": (2, 2, 2), "realistic": (256, 512, 8)}
"""Of a training step: rows, features, layers; without layers it is one addition."""
BLOCK = 10
"""Steps that are timed together; the first of them reads its loss."""
WARM = 20
"""The steps before those that are measured."""
ALONE, OBSERVED = "alone", "xla-lint run"


def training_step(rows: int, features: int, layers: int) -> Callable[[int], None]:
    """A function that trains for one step, given its number."""
    import torch  # noqa: PLC0415
    import torch_xla  # noqa: PLC0415

    device = torch_xla.device()
    stack = [module for _ in range(layers) for module in (torch.nn.Linear(features, features), torch.nn.ReLU())]
    model = torch.nn.Sequential(*stack).to(device)
    optimizer = torch.optim.SGD([*model.parameters(), torch.nn.Parameter(torch.zeros(1))], lr=0.01)
    inputs = torch.ones(rows, features, device=device)

    def add(_: int) -> None:
        inputs.add_(1)
        torch_xla.sync(wait=True)

    def step(number: int) -> None:
        optimizer.zero_grad()
        loss = model(inputs).square().mean()
        loss.backward()
        optimizer.step()
        torch_xla.sync(wait=True)
        if number == 0:
            loss.item()

    return step if layers else add


def timed(step: Callable[[int], None]) -> float:
    """The microseconds of CPU time that a step takes, over a block of them."""
    began = time.process_time()
    for number in range(BLOCK):
        step(number)
    return (time.process_time() - began) / BLOCK * 1e6


def with_and_without_counter(size: str, blocks: int) -> tuple[list[float], list[float]]:
    """Microseconds of steps outside and inside a counter, which alternate; the one that comes first does too."""
    step = training_step(*SIZES[size])
    for number in range(WARM):
        step(number)
    counter = CompileCounter()
    counter.__enter__()
    barriers.ignore(counter._reached)  # opening and closing waits for the device; listening is what a step pays
    outside: list[float] = []
    inside: list[float] = []
    for number in range(blocks):
        for listens in (number % 2 == 0, number % 2 == 1):
            with listening(counter) if listens else contextlib.nullcontext():
                (inside if listens else outside).append(timed(step))
    return outside, inside


@contextlib.contextmanager
def listening(counter: CompileCounter) -> Iterator[None]:
    """The counter is open."""
    barriers.listen(counter._reached)
    yield
    barriers.ignore(counter._reached)


def one_process(size: str, blocks: int) -> float:
    """The microseconds on the clock that a twentieth of the steps of this process kept."""
    step = training_step(*SIZES[size])
    for number in range(WARM):
        step(number)
    took = []
    for number in range(blocks * BLOCK):
        began = time.perf_counter()
        step(number % BLOCK)
        took.append(time.perf_counter() - began)
    return quantiles(took, n=20)[0] * 1e6


def processes(size: str, blocks: int, rounds: int) -> tuple[list[float], list[float]]:
    """Medians of processes without and with `xla-lint run`, which alternate."""
    me = [__file__, "--blocks", str(blocks), "--one", size]
    commands = {ALONE: [sys.executable, *me], OBSERVED: [sys.executable, "-m", "xla_lint", "run", *me]}
    took: dict[str, list[float]] = {ALONE: [], OBSERVED: []}
    for number in range(rounds):
        for name in (ALONE, OBSERVED) if number % 2 else (OBSERVED, ALONE):
            done = subprocess.run(commands[name], capture_output=True, text=True, check=True)
            took[name].append(float(done.stdout))
    return took[ALONE], took[OBSERVED]


def show(size: str, what: str, without: list[float], within: list[float]) -> None:
    """Print the two medians and their ratio."""
    before, after = median(without), median(within)
    print(f"{size:10} {what:15} {before:11.1f} {after:11.1f} {after - before:9.1f} {after / before:8.4f}", flush=True)


def main() -> None:
    """Compare on both sizes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=40, help="blocks of steps of each kind (default: 40)")
    parser.add_argument("--rounds", type=int, default=5, help="processes of each kind (default: 5)")
    parser.add_argument("--one", choices=SIZES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(one_process(options.one, options.blocks))
        return
    print(f"{'step':10} {'observed by':15} {'us without':>11} {'us with':>11} {'us more':>9} {'ratio':>8}")
    for size in SIZES:
        show(size, "CompileCounter", *with_and_without_counter(size, options.blocks))
        show(size, OBSERVED, *processes(size, options.blocks, options.rounds))


if __name__ == "__main__":
    main()
