"""The charts of a report: where their bars, bands, curves and ticks stand, in thousandths of the chart's size."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from xla_lint.runtime.exchange import Steps
    from xla_lint.runtime.history import Compiled
    from xla_lint.runtime.summary import Part

WHOLE = 1000
"""The width and the height of each chart, in its own units."""
COLUMNS = 120
"""The most columns of a chart of steps."""
POINTS = 500
"""The most points of a curve."""
NARROWEST = 2
"""A compilation is drawn at least so wide, and those nearer to each other than that are drawn as one."""
BELOW = 0.6
"""The axis of durations begins no nearer to the shortest than this, so that none is as low as the axis."""
TICKS = 5
"""The most labels below a time axis."""
ROUND = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 18000, 36000, 86400)
"""The seconds between two labels."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A label of an axis."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Bar:
    """Something with a width and a height; `kind` says in which colour."""

    kind: str
    x: float
    y: float
    width: float
    height: float
    title: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Bars, and a curve behind them where there is one."""

    name: str
    bars: list[Bar]
    across: list[Tick]
    up: list[Tick]
    curve: str = ""
    """The points of a polygon."""


def duration(seconds: float) -> str:
    """A length of time, to read."""
    if seconds >= 7200:
        return f"{seconds / 3600:.3g} h"
    if seconds >= 120:
        return f"{seconds / 60:.3g} min"
    if seconds >= 1:
        return f"{seconds:.3g} s"
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 or not seconds else f"{seconds * 1e6:.3g} µs"


def size(number: int) -> str:
    """An amount of memory, to read."""
    for unit, power in (("GB", 30), ("MB", 20), ("kB", 10)):
        if number >= 1 << power:
            return f"{number / (1 << power):.3g} {unit}"
    return "under 1 kB"


def length(part: Part) -> float:
    """How long a process was recorded, in seconds."""
    ends = [part.seconds, *(steps.end for steps in part.timeline[-1:]), *(each.at for each in part.compiles)]
    return max(ends, default=0.0)


def typical(part: Part) -> float | None:
    """What a step took that compiled nothing: the median; None where there was none."""
    quiet = [took / max(steps.number, 1) for steps, took in _durations(part) if not steps.compiles]
    return statistics.median(quiet) if quiet else None


def progress(part: Part) -> Chart:
    """The steps over the time, and when something was compiled."""
    whole = length(part) or 1.0
    done, points = 0, [(0.0, 0)]
    for steps in part.timeline:
        done += steps.number
        points.append((steps.end, done))
    thin = points[:: max(1, len(points) // POINTS)]
    thin += [] if thin[-1] == points[-1] else [points[-1]]
    curve = [f"{at / whole * WHOLE:.1f},{WHOLE - number / max(done, 1) * WHOLE:.1f}" for at, number in thin]
    last = thin[-1][0] / whole * WHOLE
    return Chart(
        "steps",
        list(_bands(part, whole)),
        list(_times(whole)),
        [Tick(WHOLE, "0"), Tick(0, f"{done:,}")] if done else [],
        " ".join([*curve, f"{last:.1f},{WHOLE}", f"0,{WHOLE}"]) if done else "",
    )


def steps(part: Part) -> list[Chart]:
    """How long the steps took, and what each executed and read; a column for one step, or for successive ones."""
    if not part.timeline:
        return []
    entries = list(_durations(part))
    together = -(-len(entries) // COLUMNS)
    columns = [entries[at : at + together] for at in range(0, len(entries), together)]
    counted = (
        ("executions a step", "execute", lambda each: each.executions),
        ("reads a step", "read", lambda each: each.reads),
    )
    return [_took(columns, part.compiles), *(_counted(columns, *each) for each in counted)]


def _durations(part: Part) -> Iterator[tuple[Steps, float]]:
    before = 0.0
    for each in part.timeline:
        yield each, max(0.0, each.end - before)
        before = each.end


def _bands(part: Part, whole: float) -> Iterator[Bar]:
    """When something was compiled; what is too near to be told apart is one."""
    bands: list[tuple[float, float, float, int, int]] = []
    for at, group in groupby((each for each in part.compiles if each.at >= 0), key=lambda each: each.at):
        same = list(group)
        took = max(0.0, same[0].seconds)
        first, start = same[-1].number - same[0].together + 1, max(0.0, at - took)
        if bands and start - bands[-1][1] < NARROWEST / WHOLE * whole:
            begin, _, before, lowest, _ = bands[-1]
            bands[-1] = (begin, at, before + took, lowest, same[-1].number)
        else:
            bands.append((start, at, took, first, same[-1].number))
    for start, end, took, first, last in bands:
        left = min(start / whole * WHOLE, WHOLE - NARROWEST)
        width = max((end - start) / whole * WHOLE, NARROWEST)
        graphs = f"graph {first}" if first == last else f"graphs {first} to {last}"
        title = f"{graphs}: {duration(took)} of compiling, from {duration(start)} to {duration(end)}"
        yield Bar("compile", round(left, 1), 0, round(width, 1), WHOLE, title)


def _times(whole: float) -> Iterator[Tick]:
    between = next((each for each in ROUND if whole / each <= TICKS), whole / TICKS)
    if whole < 1:
        between = 10.0 ** math.floor(math.log10(whole))
        between *= next(each for each in ROUND if whole / (between * each) <= TICKS)
    at = 0.0
    while at <= whole * 0.94:
        yield Tick(round(at / whole * WHOLE, 1), duration(at) if at else "0")
        at += between


def _took(columns: Sequence[Sequence[tuple[Steps, float]]], compiles: Sequence[Compiled]) -> Chart:
    """How long the steps took, on a logarithmic axis: a column as high as its mean, and a faint one to its longest.

    Of a long run only the mean of successive steps is known. But a step took no less than what was compiled in it.
    """
    compiling: dict[int, float] = {}
    for each in compiles:
        compiling[each.step + 1] = max(each.seconds, compiling.get(each.step + 1, 0.0))
    means, longest, first = [], [], 1
    for column in columns:
        means.append(sum(took for _, took in column) / _number(column))
        last = first + _number(column) - 1
        least_known = [seconds for step, seconds in compiling.items() if first <= step <= last]
        longest.append(max(*(took / max(steps.number, 1) for steps, took in column), *least_known, means[-1]))
        first = last + 1
    least = math.floor(math.log10(max(min(means) * BELOW, 1e-6)))
    most = max(least + 1, math.ceil(math.log10(max(*longest, 1e-6))))

    def height(seconds: float) -> float:
        return round(max(8.0, (math.log10(max(seconds, 1e-6)) - least) / (most - least) * WHOLE), 1)

    bars = []
    for (x, width, words, column), mean, long in zip(_columns(columns), means, longest, strict=True):
        compiled = sum(each.compiles for each, _ in column)
        title = f"{words}: {duration(mean)}{' a step' if _number(column) > 1 else ''}"
        title += f", up to {duration(long)}" if long > mean * 1.01 else ""
        title += f", {compiled} compiled" if compiled else ""
        kind = "compile" if compiled else "step"
        if long > mean * 1.01:
            bars.append(Bar(f"{kind} faint", x, WHOLE - height(long), width, height(long), title))
        bars.append(Bar(kind, x, WHOLE - height(mean), width, height(mean), title))
    decades = range(least, most + 1, -(-(most - least) // 5))
    up = [Tick(round(WHOLE - (each - least) / (most - least) * WHOLE, 1), duration(10.0**each)) for each in decades]
    total = sum(map(_number, columns))
    across = [Tick(0, "step 1"), *([Tick(WHOLE, f"step {total:,}")] if total > 1 else [])]
    return Chart("seconds a step", bars, across, up)


def _counted(
    columns: Sequence[Sequence[tuple[Steps, float]]], name: str, kind: str, count: Callable[[Steps], int]
) -> Chart:
    rates = [sum(count(each) for each, _ in column) / _number(column) for column in columns]
    most = max(rates)
    bars = [
        Bar(
            kind, x, round(WHOLE - rate / most * WHOLE, 1), width, round(rate / most * WHOLE, 1), f"{words}: {rate:.4g}"
        )
        for (x, width, words, _), rate in zip(_columns(columns), rates, strict=True)
        if rate
    ]
    return Chart(name, bars, [], [Tick(0, f"{most:.3g}")] if most else [])


def _columns(
    columns: Sequence[Sequence[tuple[Steps, float]]],
) -> Iterator[tuple[float, float, str, Sequence[tuple[Steps, float]]]]:
    """Where each column stands, how wide it is, and which steps it holds."""
    first, each = 1, WHOLE / len(columns)
    for number, column in enumerate(columns):
        last = first + _number(column) - 1
        yield (
            round(number * each, 2),
            round(each * 0.86, 2),
            f"step {first:,}" if first == last else f"steps {first:,} to {last:,}",
            column,
        )
        first = last + 1


def _number(column: Sequence[tuple[Steps, float]]) -> int:
    """The steps that a column holds; where the program ended in its first step, that one."""
    return max(1, sum(each.number for each, _ in column))
