"""What a program may cost, kept in a file beside it: what each of its runs is held against.

A line is recognised by its file and its text, so that its budget stays where lines above come and go.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from xla_lint.program.project.source import absolute
from xla_lint.runtime.gate import Check
from xla_lint.runtime.sources import name_of
from xla_lint.runtime.table import shown
from xla_lint.runtime.tpu_cache import MODULE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from xla_lint.runtime.summary import Part, Summary

PROGRAMS = "program"
"""The table that has one for each program, by its command line."""
HEAD = "What these programs may cost; `xla-lint run --check` holds a run against it, and `--update` writes it anew."
DIGITS = 4
"""The decimals of a rate; the last one is rounded up."""


class BudgetError(ValueError):
    """A file is no budget; the text says why, in one line."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What one program may cost, in the process that costs most."""

    compiles: int
    """From its start to its end."""
    compiles_once_warm: int
    executions_per_step: float
    """Over the whole run: that number is exact, whenever the device gets to what the last step of a span asked for."""
    reads_per_step: dict[str, float]
    """Of each line, over the whole run too; a line that is missing may read nothing."""

    @classmethod
    def of(cls, summary: Summary, folder: Path) -> Budget:
        """What a run cost. Files are named from `folder`."""
        warm = [part for part in summary.parts if _is_warm(part)]
        return cls(
            max((part.counts.compiles for part in summary.parts), default=0),
            max((part.warm_compiles for part in warm), default=0),
            max((_rate(part.counts.executions, part.steps) for part in warm), default=0.0),
            {line: _rate(number, summary.steps) for line, (number, _) in sorted(_reads(summary, folder).items())},
        )

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> Budget:
        """The budget that a table of a file holds.

        Raises:
            BudgetError: it holds something else.
        """
        names = {each.name for each in fields(cls)}
        if table.keys() != names:
            wrong = min(table.keys() ^ names)
            raise BudgetError(f"has an unknown key: {wrong}" if wrong in table else f"lacks a key: {wrong}")
        totals = dict(table)
        reads = totals.pop("reads_per_step")
        if not isinstance(reads, dict):
            raise BudgetError("needs a table: reads_per_step")
        for name, number in [*totals.items(), *reads.items()]:
            if isinstance(number, bool) or not isinstance(number, (int, float)):
                raise BudgetError(f"needs a number: {name}")
        return cls(**table)

    def checks(self, summary: Summary, folder: Path) -> Iterator[Check]:
        """Each of its lines; a line of the program that it does not name, and that reads, has one too."""
        now = Budget.of(summary, folder)
        lines = _named(Counter({shown(row.file, row.line): row.compiles for row in summary.rows}))
        compiled = f"compiled {_graphs(now.compiles)}, and the budget is {self.compiles}{lines}"
        yield Check("compiles", [compiled] * (now.compiles > self.compiles))
        late = (
            f"compiled {_graphs(now.compiles_once_warm)} after {summary.warmup} steps, "
            f"and the budget is {self.compiles_once_warm}{_named(_late(summary))}"
        )
        yield Check("compiles_once_warm", [late] * (now.compiles_once_warm > self.compiles_once_warm))
        lines = _named(Counter({shown(row.file, row.line): row.executions for row in summary.rows}))
        executed = (
            f"executed {now.executions_per_step:g} graphs a step, and the budget is {self.executions_per_step:g}{lines}"
        )
        yield Check("executions_per_step", [executed] * (now.executions_per_step > self.executions_per_step))
        reads = _reads(summary, folder)
        for line in dict.fromkeys([*reads, *self.reads_per_step]):
            rate, allowed = now.reads_per_step.get(line, 0.0), self.reads_per_step.get(line, 0.0)
            where = reads[line][1] if line in reads else ""
            read = f"read {rate:g} times a step at {where}, and the budget is {allowed:g}: {line}"
            yield Check(f"reads_per_step: {line}", [read] * (rate > allowed))


class BudgetFile:
    """The budgets of several programs."""

    def __init__(self, path: Path) -> None:
        """Read the file; one that is not there holds none.

        Raises:
            BudgetError: it cannot be read, or is none.
        """
        self.path = path
        self._folder = absolute(path).parent
        try:
            self._document = tomlkit.parse(path.read_text(encoding="utf-8")) if path.exists() else _empty()
        except (OSError, UnicodeError, TOMLKitError) as error:
            raise BudgetError(f"cannot be read: {error}") from error
        programs = self._document.unwrap().get(PROGRAMS, {})
        if not isinstance(programs, dict) or not all(isinstance(each, dict) for each in programs.values()):
            raise BudgetError(f"needs a table for each program: {PROGRAMS}")
        self._budgets = {command: Budget.from_table(table) for command, table in programs.items()}

    def of(self, command: str) -> Budget | None:
        """The budget of a program, by its command line; None where it has none."""
        return self._budgets.get(command)

    def checks(self, summary: Summary) -> Iterator[Check]:
        """What its budget allows a run; where it can be held against none, that alone."""
        steady = self.steady(summary)
        yield steady
        if not steady.broken:
            yield from self._budgets[summary.command].checks(summary, self._folder)

    def steady(self, summary: Summary) -> Check:
        """Whether a run can be held against a budget, and be one."""
        return Check("steady", self._unsteady(summary))

    def _unsteady(self, summary: Summary) -> list[str]:
        if summary.tpu:
            return [
                f"a budget holds executions and reads, which {MODULE} does not tell; --max-compiles is a limit there"
            ]
        if not summary.rows:
            return ["nothing was recorded, so that no budget can be said to hold"]
        if not any(_is_warm(part) for part in summary.parts):
            return [f"the program never became steady, with {summary.steps} steps; see --warmup"]
        return []

    def update(self, summary: Summary) -> None:
        """Write the file anew, with what this run cost; what else it says stays.

        Raises:
            OSError: it cannot be written.
        """
        programs = self._document.setdefault(PROGRAMS, tomlkit.table(is_super_table=True))
        programs[summary.command] = asdict(Budget.of(summary, self._folder))
        self.path.write_text(tomlkit.dumps(self._document), encoding="utf-8")


def _empty() -> tomlkit.TOMLDocument:
    document = tomlkit.document()
    document.add(tomlkit.comment(HEAD))
    document.add(tomlkit.nl())
    return document


def _is_warm(part: Part) -> bool:
    return bool(part.step) and part.warm_steps > 0


def _rate(number: int, steps: int) -> float:
    shift: int = 10**DIGITS
    return math.ceil(round(number / max(steps, 1) * shift, 6)) / shift


def _reads(summary: Summary, folder: Path) -> dict[str, tuple[int, str]]:
    """How often each line read, and where it stands; lines of one file that are alike are one."""
    reads: dict[str, tuple[int, str]] = {}
    for row in summary.rows:
        if row.reads:
            key = f"{_relative(row.file, folder)}: {row.source}" if row.file else shown("", 0)
            number, place = reads.get(key, (0, shown(row.file, row.line)))
            reads[key] = number + row.reads, place
    return reads


def _relative(file: str, folder: Path) -> str:
    name = name_of(file)
    return Path(os.path.relpath(name, folder)).as_posix() if Path(name).is_absolute() else name


def _late(summary: Summary) -> Counter[str]:
    """The lines that compiled once warm, and how often."""
    late: Counter[str] = Counter()
    for part in summary.parts:
        for place, number in part.warm_lines.items():
            file, _, line = place.rpartition(":")
            late[shown(file, int(line))] += number
    return late


def _graphs(number: int) -> str:
    return "1 graph" if number == 1 else f"{number} graphs"


def _named(lines: Counter[str]) -> str:
    named = [f"{line} ({number})" for line, number in lines.most_common(3) if number]
    return f": {', '.join(named)}" if named else ""
