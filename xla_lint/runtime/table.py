"""The report on the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from xla_lint.runtime.fallbacks import LOWERED
from xla_lint.runtime.findings import TOO_MANY
from xla_lint.runtime.places import Frame, Place
from xla_lint.runtime.sources import name_of
from xla_lint.runtime.steps import BARRIER, OPTIMIZER, READ
from xla_lint.runtime.tpu_use import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TextIO

    from xla_lint.runtime.reasons import Reason, Told
    from xla_lint.runtime.summary import Part, Row, Summary
    from xla_lint.runtime.uncut import Uncut

LISTED = 8
"""So many findings are listed that the run does not confirm."""
NOT_KNOWN = "not known"
"""What TorchTPU does not tell."""
WIDTH = 140
"""Columns where the output is no terminal."""


def write(summary: Summary, broken: Sequence[str], stream: TextIO) -> None:
    """Write the report of a run and the limits that it broke."""
    console = Console(file=stream, width=None if stream.isatty() else WIDTH, highlight=False, soft_wrap=False)
    console.print(Text(f"xla-lint run: {headline(summary)}", style="bold"))
    if summary.rows:
        console.print(_table(summary))
    for sentence in [*steps(summary), *reasons(summary), *fallbacks(summary), *remarks(summary)]:
        console.print(Text(sentence))
    for sentence in summary.problems:
        console.print(Text(f"error: {sentence}", style="bold red"))
    for sentence in broken:
        console.print(Text(f"limit broken: {sentence}", style="bold red"))


def headline(summary: Summary) -> str:
    """The totals in one line."""
    counts = summary.counts
    parts = [
        f"{counts.compiles} compiles ({counts.compile_seconds:.1f} s)",
        f"executions {NOT_KNOWN}" if summary.tpu else f"{counts.executions} executions",
        f"reads {NOT_KNOWN}" if summary.tpu else f"{counts.reads} reads",
        f"{summary.steps} steps",
    ]
    number = len(summary.processes)
    processes = f" in {number} processes" if number > 1 else ""
    return ", ".join(parts) + processes + f"; the program {summary.ended}"


def shown(file: str, line: int) -> str:
    """A place as the reports name it: relative to the current folder, or to where packages are installed."""
    if not file:
        return "(no Python line)"
    file = name_of(file)
    path = Path(file)
    cwd = Path.cwd()
    if path.is_relative_to(cwd):
        file = str(path.relative_to(cwd))
    return f"{file.rpartition('site-packages/')[2]}:{line}"


def reasons(summary: Summary) -> Iterator[str]:
    """One sentence for every reason to compile again, and for every graph that holds several steps."""
    for reason in summary.reasons:
        yield f"{recompiled(reason)}{_rule(reason)}"
    for each in summary.uncut:
        yield uncut(each)


def recompiled(reason: Reason) -> str:
    """What was compiled again, how often, where and why."""
    often = "once" if reason.number == 1 else f"{reason.number} times"
    return f"recompiled {often} at {shown(reason.file, reason.line)}{why(reason)}"


def why(reason: Reason) -> str:
    """What goes on the sentence on a recompile: its cause, or that it is not explained."""
    words = "; and because ".join(map(difference, reason.differences)) or reason.words
    return f" because {words}" if reason.explained else f", not explained: {words}"


def difference(told: Told) -> str:
    """What differs between two graphs, and where it was made."""
    if not told.file:
        return told.words
    tensor = f"{told.tensor} " if told.tensor else ""
    return f"{told.words} ({tensor}at {shown(told.file, told.line)})"


def uncut(each: Uncut) -> str:
    """One sentence for a graph that holds several steps."""
    return f"no barrier cut the graph compiled at {shown(each.file, each.line)}: {held(each)}{_rule(each)}"


def held(each: Uncut) -> str:
    """What a graph holds that no barrier cut."""
    what = []
    if each.turns:
        lines = shown(each.loop_file, each.loop_first) + (
            f" to {each.loop_last}" if each.loop_last != each.loop_first else ""
        )
        what.append(f"at least {each.turns} turns of the loop at {lines}")
    if each.optimizer_steps:
        what.append(f"{each.optimizer_steps} optimizer steps" if each.optimizer_steps > 1 else "1 optimizer step")
    return f"it holds {' and '.join(what)}, {each.operations} operations in all"


def _rule(each: Reason | Uncut) -> str:
    return f"; see {each.rule}, {each.seen}" if each.rule else ""


def steps(summary: Summary) -> Iterator[str]:
    """What a step was taken to be, where it is not what ends at each barrier."""
    for part in summary.parts:
        if part.steps == 1:
            continue
        place = shown(part.step_file, part.step_line)
        if part.step == BARRIER and part.barriers > part.steps:
            yield f"a step is taken to end at {place}: {part.barriers / part.steps:.3g} barriers a step"
        elif part.step == OPTIMIZER:
            yield f"no barrier was reached; a step is taken to be one of the optimizer at {place}"
        elif part.step == READ:
            yield f"no barrier was reached; a step is taken to end with the read at {place}"
        elif not part.step:
            yield "no step was seen: no barrier, no optimizer step and no read; limits hold of all that happened"
        if part.eager_file:
            yield (
                f"eager mode was switched on at {shown(part.eager_file, part.eager_line)}: each operation is compiled "
                "and executed by itself"
            )


def remarks(summary: Summary) -> Iterator[str]:
    """What else is to be said."""
    yield from sentences(summary.tpu, shown)
    yield from unconfirmed(summary)
    yield from rates(summary)
    yield from summary.notes


def fallbacks(summary: Summary) -> Iterator[str]:
    """One sentence for the operations that ran on the CPU."""
    if summary.fallbacks:
        each = ", ".join(f"{name} ({number})" for name, number in summary.fallbacks.items())
        yield f"ran on the CPU, because XLA has no lowering for them: {each}"
    for name, number in summary.fallbacks_here.items():
        yield f"ran on the CPU {number} times on this device only: {name}, which torch_xla lowers on {LOWERED[name]}"


def rates(summary: Summary) -> Iterator[str]:
    """One sentence for every rate that torch_xla's own analysis calls too high."""
    for part in summary.parts:
        for what, number in (("compiles", part.warm_compiles), ("reads", part.warm_reads)):
            if part.warm_steps and number / part.warm_steps > TOO_MANY:
                yield (
                    f"process {part.pid}, once warm: {number / part.warm_steps:.2f} {what} a step; "
                    f"more than {TOO_MANY} is too many"
                )


def at(row: Row) -> str:
    """The place of a row: the user's own line, and that of a framework that did it."""
    inside = Frame(row.inside_file, row.inside_line, "") if row.inside_file else None
    return through(Place(Frame(row.file, row.line, ""), inside))


def through(place: Place) -> str:
    """The user's own line, and that of a framework that did it."""
    own = shown(place.own.file, place.own.line) if place.own else shown("", 0)
    return f"{own} > {shown(place.inside.file, place.inside.line)}" if place.inside else own


def unconfirmed(summary: Summary) -> Iterator[str]:
    """One sentence for the findings of which the run shows nothing."""
    each = [f"{found.symbol} at {shown(found.file, found.line)}" for found in summary.unconfirmed]
    if each:
        more = f" and {len(each) - LISTED} more" if len(each) > LISTED else ""
        yield f"found by the linter, and nothing of it seen in this run: {', '.join(each[:LISTED])}{more}"


def pid_of(part: Part) -> str:
    """How a process is called in a report."""
    return f"process {part.pid}: {part.command}"


def _table(summary: Summary) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", collapse_padding=True)
    table.add_column("line", overflow="fold", min_width=16)
    for name in ("compiles", "executions", "reads", "host s"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("cause", overflow="fold")
    table.add_column("rule", overflow="fold")
    for row in summary.rows:
        rule = f"{row.rule} ({row.seen})" if row.rule else ""
        table.add_row(
            Text(at(row)),
            str(row.compiles),
            str(row.executions),
            f"{row.reads} ({row.late_reads} late)" if row.late_reads else str(row.reads),
            f"{row.seconds:.2f}",
            Text(row.cause),
            Text(rule),
        )
    return table
