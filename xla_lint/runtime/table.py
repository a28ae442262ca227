"""The report on the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from xla_lint.runtime.findings import TOO_MANY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TextIO

    from xla_lint.runtime.summary import Part, Summary

WIDTH = 140
"""Columns where the output is no terminal."""


def write(summary: Summary, broken: Sequence[str], stream: TextIO) -> None:
    """Write the report of a run and the limits that it broke."""
    console = Console(file=stream, width=None if stream.isatty() else WIDTH, highlight=False, soft_wrap=False)
    console.print(Text(f"xla-lint run: {headline(summary)}", style="bold"))
    if summary.rows:
        console.print(_table(summary))
    for sentence in [*reasons(summary), *fallbacks(summary), *rates(summary), *summary.notes]:
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
        f"{counts.executions} executions",
        f"{counts.reads} reads",
        f"{summary.steps} steps",
    ]
    processes = f" in {len(summary.parts)} processes" if len(summary.parts) > 1 else ""
    return ", ".join(parts) + processes + f"; the program {summary.ended}"


def shown(file: str, line: int) -> str:
    """A place as the reports name it: relative to the current folder, or to where packages are installed."""
    if not file:
        return "(no Python line)"
    path = Path(file)
    cwd = Path.cwd()
    if path.is_relative_to(cwd):
        file = str(path.relative_to(cwd))
    return f"{file.rpartition('site-packages/')[2]}:{line}"


def reasons(summary: Summary) -> Iterator[str]:
    """One sentence for every reason to compile again."""
    for reason in summary.reasons:
        often = "once" if reason.number == 1 else f"{reason.number} times"
        built = f" (built at {shown(reason.built_file, reason.built_line)})" if reason.built_file else ""
        rule = f"; see {reason.rule}, {reason.seen}" if reason.rule else ""
        yield f"recompiled {often} at {shown(reason.file, reason.line)} because {reason.words}{built}{rule}"


def fallbacks(summary: Summary) -> Iterator[str]:
    """One sentence for the operations that ran on the CPU."""
    if summary.fallbacks:
        each = ", ".join(f"{name} ({number})" for name, number in summary.fallbacks.items())
        yield f"ran on the CPU, because XLA has no lowering for them: {each}"


def rates(summary: Summary) -> Iterator[str]:
    """One sentence for every rate that torch_xla's own analysis calls too high."""
    for part in summary.parts:
        for what, number in (("compiles", part.warm_compiles), ("reads", part.warm_reads)):
            if part.warm_steps and number / part.warm_steps > TOO_MANY:
                yield (
                    f"process {part.pid}, once warm: {number / part.warm_steps:.2f} {what} a step; "
                    f"more than {TOO_MANY} is too many"
                )


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
            Text(shown(row.file, row.line)),
            str(row.compiles),
            str(row.executions),
            f"{row.reads} ({row.late_reads} late)" if row.late_reads else str(row.reads),
            f"{row.seconds:.2f}",
            Text(row.cause),
            Text(rule),
        )
    return table
