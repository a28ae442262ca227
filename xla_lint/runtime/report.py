"""The report as one HTML page without any network, and as Markdown."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import jinja2
from markupsafe import Markup

from xla_lint.runtime import charts, table
from xla_lint.runtime.costs import Saving, Spent, savings, share, spent
from xla_lint.runtime.findings import FOUND
from xla_lint.runtime.listing import listings
from xla_lint.runtime.places import is_backend, is_ours, place_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from xla_lint.runtime.given import Given
    from xla_lint.runtime.graph_stacks import Stack
    from xla_lint.runtime.history import Compiled
    from xla_lint.runtime.reasons import Reason
    from xla_lint.runtime.records import Memory
    from xla_lint.runtime.summary import Part, Row, Summary
    from xla_lint.runtime.uncut import Uncut

LISTED = 30
"""So many compiles are shown at once; the others unfold."""
FIRST = 5
"""So many changes are proposed at once; the others unfold."""


@dataclass(frozen=True, slots=True)
class Graph:
    """A compile, beside the closest one before."""

    compiled: Compiled
    place: str
    seconds: str
    grown: int | None
    """The operations that it has more than the closest one before; None where there is none to compare with."""
    changed: list[str]
    stack: list[str]
    """The lines that compiled it, outermost first and without those of torch."""
    given: list[str]
    memory: str


@dataclass(frozen=True, slots=True)
class Process:
    """One process, as the page shows it."""

    part: Part
    progress: charts.Chart
    steps: list[charts.Chart]
    graphs: list[Graph]


def html(summary: Summary, broken: Sequence[str]) -> str:
    """The page. It needs nothing but itself."""
    rows = list(zip(summary.rows, spent(summary), strict=True))
    took = sum((each for _, each in rows), Spent())
    whole = sum(map(charts.length, summary.parts))
    facts = {
        "whole": whole,
        "took": took,
        "rest": max(0.0, whole - took.total),
        "again": sum(reason.number for reason in summary.reasons),
        "rows": rows,
        "most": max((each.total for _, each in rows), default=0.0) or 1.0,
        "changes": [(_headline(each), _words(each, summary), each) for each in savings(summary)],
        "processes": [
            Process(part, charts.progress(part), charts.steps(part), list(_graphs(part))) for part in summary.parts
        ],
        "listings": listings(summary),
        "findings": _findings(summary),
        "listed": LISTED,
        "first": FIRST,
        "several": charts.COLUMNS,
        "growing": [table.uncut(each) for each in summary.uncut if not each.rule],
        "duration": charts.duration,
        "percent": _percent,
        "path": _path,
        "size": charts.size,
        "ways": _ways,
    }
    template = _environment(autoescape=True).get_template("report.html.jinja")
    return template.render(**_facts(summary, broken), **facts)


def markdown(summary: Summary, broken: Sequence[str]) -> str:
    """The same without the charts, to paste into a bug report."""
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
    typical = next(filter(None, map(charts.typical, summary.parts)), None)
    return {
        "summary": summary,
        "broken": broken,
        "shown": table.shown,
        "reasons": list(table.reasons(summary)),
        "fallbacks": list(table.fallbacks(summary)),
        "at": table.at,
        "notes": [*table.steps(summary), *table.remarks(summary)],
        "totals": [
            ("steps", f"{summary.steps:,}"),
            *([("a step", charts.duration(typical))] if typical is not None else []),
            ("compiles", f"{counts.compiles:,}"),
            ("compile time", charts.duration(counts.compile_seconds)),
            ("executions", table.NOT_KNOWN if summary.tpu else f"{counts.executions:,}"),
            ("reads", table.NOT_KNOWN if summary.tpu else f"{counts.reads:,}"),
        ],
    }


def _percent(part: float, whole: float) -> str:
    """A share of the run, to read."""
    percent = 100 * part / whole
    return f"{percent:.0f} %" if percent >= 0.5 or not part else "under 1 %"


def _path(place: str) -> Markup:
    """A file and a line, which a narrow column breaks after the folders and before the line."""
    return Markup("<wbr>").join(re.split(r"(?<=/)|(?=:\d+$)", place))


def _headline(saving: Saving) -> str:
    """What is wrong, in a few words, and where."""
    if saving.row is not None:
        return f"{saving.row.cause} at {table.at(saving.row)}"
    if saving.uncut is not None:
        return f"no barrier cut the graph at {table.shown(saving.uncut.file, saving.uncut.line)}"
    number = sum(reason.number for reason in saving.reasons)
    often = "once" if number == 1 else f"{number} times"
    return f"recompiled {often} at {table.shown(saving.reasons[0].file, saving.reasons[0].line)}"


def _words(saving: Saving, summary: Summary) -> list[str]:
    """Why, one sentence each."""
    if saving.row is not None:
        row = saving.row
        what = [
            (row.compiles, "compile", ""),
            (row.executions, "execution", ""),
            (row.reads - row.late_reads, "read", " that waited for an execution"),
            (row.late_reads, "read", " of what was there"),
        ]
        told = [f"{number:,} {name}{'s' * (number > 1)}{rest}" for number, name, rest in what if number]
        return [", ".join(told) + f" in {summary.steps:,} steps"]
    if saving.uncut is not None:
        return [table.held(saving.uncut)]
    return [table.why(reason).removeprefix(", ") for reason in saving.reasons]


def _graphs(part: Part) -> Iterable[Graph]:
    sizes = {each.number: each.operations for each in part.compiles}
    for each in part.compiles:
        before = sizes.get(each.against, 0)
        yield Graph(
            each,
            table.through(place_of(each.stack)),
            charts.duration(share(each)) if each.seconds >= 0 else "",
            each.operations - before if before and each.operations else None,
            [table.difference(told) for told in each.differences],
            _lines(each.stack),
            list(_given(each)),
            _memory(each.memory) if each.memory else "",
        )


def _given(compiled: Compiled) -> Iterator[str]:
    """The inputs of a graph, those of one line together, and where they come from."""
    lines: dict[tuple[str, int], list[Given]] = defaultdict(list)
    for each in compiled.given:
        lines[each.file, each.line].append(each)
    for (file, line), several in lines.items():
        shapes = ", ".join(f"{each.number} of {each.shape}" if each.number > 1 else each.shape for each in several)
        name = f"{several[0].tensor} " if several[0].tensor else ""
        yield (
            f"{shapes}: {name}at {table.shown(file, line)}: {several[0].source}" if file else f"{shapes}: no line known"
        )


def _memory(memory: Memory) -> str:
    parts = {"inputs": memory.inputs, "results": memory.outputs, "between": memory.temporary, "code": memory.program}
    place = f", {charts.size(memory.aliased)} of the results in the place of inputs" if memory.aliased else ""
    return ", ".join(f"{name} {charts.size(number)}" for name, number in parts.items() if number) + place


def _ways(row: Row) -> list[tuple[int, list[str]]]:
    """The stacks of a row, outermost line first and without those of torch; none where it is its own only line."""
    ways = [(number, _lines(stack)) for number, stack in row.stacks]
    return ways if any(len(lines) > 1 for _, lines in ways) else []


def _lines(stack: Stack) -> list[str]:
    """The lines of a stack, outermost first, without those of torch and of xla-lint."""
    frames = [frame for frame in reversed(stack) if not (is_backend(frame.file) or is_ours(frame.file))]
    return [table.shown(frame.file, frame.line) for frame in frames]


def _findings(summary: Summary) -> dict[str, list[tuple[str, str]]]:
    """The rules and their places, by what the linter and the run say of them."""
    judged: list[Row | Reason | Uncut] = [*summary.rows, *summary.reasons, *summary.uncut]
    told = [(each.seen, each.rule, table.shown(each.file, each.line)) for each in judged if each.rule]
    return {
        "confirmed": list(dict.fromkeys((rule, place) for seen, rule, place in told if seen == FOUND)),
        "unseen": list(dict.fromkeys((rule, place) for seen, rule, place in told if seen != FOUND)),
        "unconfirmed": [(each.symbol, table.shown(each.file, each.line)) for each in summary.unconfirmed],
    }
