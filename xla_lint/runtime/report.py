"""The report as one HTML page without any network, and as Markdown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import jinja2

from xla_lint.runtime import table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from xla_lint.runtime.exchange import Steps
    from xla_lint.runtime.summary import Part, Summary

COLUMNS = 120
"""The most columns of a timeline."""
WIDTH, LANE, GAP = 720, 44, 22
"""Of a timeline, in its own units: its width, a lane's height, and the room above a lane for its name."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One kind of event in a timeline."""

    name: str
    most: str
    label_y: int
    base: int


@dataclass(frozen=True, slots=True)
class Bar:
    """How often something happened in one column."""

    kind: str
    x: float
    y: float
    width: float
    height: float
    title: str


@dataclass(frozen=True, slots=True)
class Chart:
    """The timeline of one process."""

    pid: int
    steps: int
    seconds: str
    column: str
    width: int
    height: int
    lanes: list[Lane]
    bars: list[Bar]


def html(summary: Summary, broken: Sequence[str]) -> str:
    """The page. It needs nothing but itself."""
    return _environment(autoescape=True).get_template("report.html.jinja").render(**_facts(summary, broken))


def markdown(summary: Summary, broken: Sequence[str]) -> str:
    """The same without the timeline, to paste into a bug report."""
    return _environment(autoescape=False).get_template("report.md.jinja").render(**_facts(summary, broken))


def _environment(*, autoescape: bool) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("xla_lint.runtime"),
        autoescape=autoescape,
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters["cell"] = lambda text: text.replace("|", "\\|")
    return environment


def _facts(summary: Summary, broken: Sequence[str]) -> dict[str, object]:
    counts = summary.counts
    return {
        "summary": summary,
        "broken": broken,
        "shown": table.shown,
        "reasons": list(table.reasons(summary)),
        "fallbacks": list(table.fallbacks(summary)),
        "at": table.at,
        "notes": [*table.steps(summary), *table.remarks(summary)],
        "parts": [chart(part) for part in summary.parts],
        "totals": [
            ("steps", f"{summary.steps}"),
            ("compiles", f"{counts.compiles}"),
            ("compile time", f"{counts.compile_seconds:.1f} s"),
            ("executions", f"{counts.executions}"),
            ("reads", f"{counts.reads}"),
        ],
    }


def chart(part: Part) -> Chart:
    """The timeline of a process: a column for one step, or for several successive ones."""
    together = -(-len(part.timeline) // COLUMNS) if part.timeline else 1
    groups = [part.timeline[at : at + together] for at in range(0, len(part.timeline), together)]
    kinds: tuple[tuple[str, str, Callable[[Steps], int]], ...] = (
        ("compile", "compiles", lambda steps: steps.compiles),
        ("execute", "executions", lambda steps: steps.executions),
        ("read", "reads", lambda steps: steps.reads),
    )
    lanes, bars = [], []
    width = WIDTH / max(len(groups), 1)
    for number, (kind, name, count) in enumerate(kinds):
        rates = [sum(map(count, group)) / sum(steps.number for steps in group) for group in groups]
        most = max(rates, default=0)
        base = number * (LANE + GAP) + GAP + LANE
        lanes.append(Lane(name, f"{most:g}" if most == int(most) else f"{most:.2f}", base - LANE - 8, base))
        first = 1
        for at, (rate, group) in enumerate(zip(rates, groups, strict=True)):
            last = first + sum(steps.number for steps in group) - 1
            steps = f"step {first}" if first == last else f"steps {first} to {last}"
            first = last + 1
            if rate:
                height = round(LANE * rate / most, 2)
                title = f"{steps}, until {group[-1].end:.2f} s: {rate:.4g} {name} a step"
                left = round(at * width, 2)
                bars.append(Bar(kind, left, round(base - height, 2), round(max(width - 1, 0.8), 2), height, title))
    widest = max((sum(steps.number for steps in group) for group in groups), default=1)
    return Chart(
        part.pid,
        part.steps,
        f"{part.timeline[-1].end:.1f}" if part.timeline else "0",
        "one step" if widest == 1 else f"{widest} steps, averaged",
        WIDTH,
        len(kinds) * (LANE + GAP),
        lanes,
        bars,
    )
