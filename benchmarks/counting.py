"""What observing a run costs a step: nothing, an open `CompileCounter`, and the whole of `xla-lint run`.

    PJRT_DEVICE=CPU python benchmarks/counting.py

Steps are a barrier alone, and training steps whose batch is first fitted so that they take 2 and 20 ms on one core.
Whatever is compared alternates in blocks of steps, so that a slow spell of the machine meets both: for a counter in one
process, for `xla-lint run` in two processes that are alive at the same time and take turns, since it cannot be switched
off in one. Shown are, by the clock and in CPU time over all threads, what the fastest tenth of the blocks kept, which a
busy machine disturbs least, with their ratio; then the median of the ratios of the pairs, and in which interval the
middle half of these lies. Each step ends with a barrier that waits for the device.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import time
from statistics import quantiles
from typing import TYPE_CHECKING, NamedTuple

from xla_lint.runtime import CompileCounter, barriers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WARM = 20
"""The steps before those that are measured."""
REPEATED = 5
"""The blocks of which the fastest tells how long a step takes, while its batch is fitted."""
ONE_CORE = {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false", "OMP_NUM_THREADS": "1"}
ME = __file__


class Size(NamedTuple):
    """A step, and how many of them a block has."""

    features: int
    layers: int
    """Without layers it is one addition."""
    seconds: float
    """How long it is to take; 0: as long as it takes."""
    block: int


class Cost(NamedTuple):
    """What a step takes, on average over a block: microseconds."""

    clock: float
    cpu: float


SIZES = {"barrier": Size(2, 0, 0, 50), "2 ms": Size(128, 2, 0.002, 10), "20 ms": Size(512, 6, 0.020, 3)}


def training_step(size: Size, rows: int) -> Callable[[], None]:
    """A function that trains for one step."""
    import torch  # noqa: PLC0415
    import torch_xla  # noqa: PLC0415

    device = torch_xla.device()
    layers = [torch.nn.Linear(size.features, size.features) for _ in range(size.layers)]
    model = torch.nn.Sequential(*(module for layer in layers for module in (layer, torch.nn.ReLU()))).to(device)
    optimizer = torch.optim.SGD([*model.parameters(), torch.nn.Parameter(torch.zeros(1))], lr=0.01)
    inputs = torch.ones(rows, size.features, device=device)

    def add() -> None:
        inputs.add_(1)
        torch_xla.sync(wait=True)

    def step() -> None:
        optimizer.zero_grad()
        loss = model(inputs).square().mean()
        loss.backward()
        optimizer.step()
        torch_xla.sync(wait=True)

    return step if size.layers else add


def timed(step: Callable[[], None], number: int) -> Cost:
    """What a step takes, over a block of them."""
    clock, cpu = time.perf_counter(), time.process_time()
    for _ in range(number):
        step()
    return Cost((time.perf_counter() - clock) / number * 1e6, (time.process_time() - cpu) / number * 1e6)


def warmed(size: Size, rows: int) -> Callable[[], None]:
    """A step that has been compiled."""
    step = training_step(size, rows)
    for _ in range(WARM):
        step()
    return step


def fitted(size: Size) -> int:
    """The rows of a batch with which a step takes as long as it is to."""
    if not size.seconds:
        return 2
    rows, took, fewer, before = 8, 0.0, 0, 0.0
    while took < size.seconds * 1e6:
        rows, fewer, before = rows * 2, rows, took
        step = warmed(size, rows)
        took = min(timed(step, size.block).cpu for _ in range(REPEATED))
    return max(1, fewer + round((rows - fewer) * (size.seconds * 1e6 - before) / (took - before)))


def with_and_without_counter(size: Size, rows: int, pairs: int) -> Iterator[tuple[Cost, Cost]]:
    """Steps outside and inside a counter, which alternate; the one that comes first does too."""
    step = warmed(size, rows)
    counter = CompileCounter()
    counter.__enter__()
    barriers.ignore(counter._reached)  # opening and closing waits for the device; listening is what a step pays
    for number in range(pairs):
        costs = {}
        for listens in (number % 2 == 0, number % 2 == 1):
            with listening(counter) if listens else contextlib.nullcontext():
                costs[listens] = timed(step, size.block)
        yield costs[False], costs[True]


@contextlib.contextmanager
def listening(counter: CompileCounter) -> Iterator[None]:
    """The counter is open."""
    barriers.listen(counter._reached)
    yield
    barriers.ignore(counter._reached)


class Turns:
    """A process that makes a block of steps each time it is told to."""

    def __init__(self, name: str, rows: int, *, observed: bool) -> None:
        command = [sys.executable, *(["-m", "xla_lint", "run"] if observed else []), ME, "--serve", name, str(rows)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def block(self) -> Cost:
        """One block."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return Cost(*map(float, self._process.stdout.readline().split()))

    def end(self) -> None:
        """Let it end."""
        self._process.communicate()


def serve(size: Size, rows: int) -> None:
    """Make a block of steps for each line of the standard input."""
    step = warmed(size, rows)
    for _ in sys.stdin:
        print(*timed(step, size.block), flush=True)


def with_and_without_run(name: str, rows: int, pairs: int, processes: int) -> Iterator[tuple[Cost, Cost]]:
    """Blocks of processes without and with `xla-lint run`, which alternate; the one that comes first does too."""
    for _ in range(processes):
        turns = {observed: Turns(name, rows, observed=observed) for observed in (False, True)}
        for each in turns.values():
            each.block()  # the process starts, and compiles
        for number in range(pairs // processes):
            costs = {observed: turns[observed].block() for observed in (number % 2 == 0, number % 2 == 1)}
            yield costs[False], costs[True]
        for each in turns.values():
            each.end()


def show(size: str, what: str, costs: list[tuple[Cost, Cost]]) -> None:
    """Print a line for each of the two clocks."""
    for index, clock in enumerate(Cost._fields):
        pairs = [(without[index], within[index]) for without, within in costs]
        before, after = (quantiles(each, n=10)[0] for each in zip(*pairs, strict=True))
        low, ratio, high = quantiles([within / without for without, within in pairs], n=4)
        more = f"{after - before:9.1f} {after / before:8.4f} {ratio:8.4f} {low:8.4f} to {high:.4f}"
        print(f"{size:8} {what:15} {clock:6} {before:11.1f} {after:11.1f} {more}", flush=True)


def main() -> None:
    """Compare on all sizes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=300, help="pairs of blocks (default: 300)")
    parser.add_argument("--processes", type=int, default=3, help="pairs of processes (default: 3)")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=[*SIZES], help="default: all")
    parser.add_argument("--fit", choices=SIZES, help=argparse.SUPPRESS)
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ.update(ONE_CORE)
    if options.fit:
        print(fitted(SIZES[options.fit]))
        return
    if options.serve:
        serve(SIZES[options.serve[0]], int(options.serve[1]))
        return
    columns = f"{'us without':>11} {'us with':>11} {'us more':>9} {'ratio':>8} {'of pairs':>8} {'middle half':>18}"
    print(f"{'step':8} {'observed by':15} {'clock':6} {columns}")
    for name in options.sizes:
        fit = subprocess.run([sys.executable, ME, "--fit", name], capture_output=True, text=True, check=True)
        rows = int(fit.stdout)
        show(name, "CompileCounter", [*with_and_without_counter(SIZES[name], rows, options.pairs)])
        show(name, "xla-lint run", [*with_and_without_run(name, rows, options.pairs, options.processes)])


if __name__ == "__main__":
    main()
