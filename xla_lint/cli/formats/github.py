"""Findings as workflow commands, which GitHub shows as annotations beside the changed lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from xla_lint.cli.results import spot

if TYPE_CHECKING:
    from xla_lint.cli.results import Results
    from xla_lint.places import Extent

LEVELS = {"error": "error", "warning": "warning", "refactor": "warning", "advice": "notice"}


def write(results: Results, stream: TextIO) -> None:
    """Write a command for each finding and for each problem to a stream.

    GitHub counts the lines of the file, which in a notebook are not those of a cell: there the message says the place.
    """
    for finding in results.findings:
        title = f"{finding.code} {finding.symbol}"
        where = _place(finding.place) if finding.cell is None else {}
        text = finding.message
        if finding.cell is not None:
            text = f"{spot('', finding.cell, finding.place.line, finding.place.column).lstrip(':')}: {text}"
        print(command(LEVELS[finding.severity], {"file": finding.path, **where, "title": title}, text), file=stream)
    for problem in results.problems:
        line = {"line": str(problem.line)} if problem.line and problem.cell is None else {}
        text = problem.message
        if problem.cell is not None:
            text = f"{spot('', problem.cell, problem.line).lstrip(':')}: {text}"
        print(command("error", {"file": problem.path, **line, "title": "xla-lint"}, text), file=stream)


def _place(place: Extent) -> dict[str, str]:
    """Where an annotation stands; GitHub takes columns only where it begins and ends on one line."""
    lines = {"line": str(place.line), "endLine": str(place.end_line)}
    if place.line != place.end_line:
        return lines
    return {**lines, "col": str(place.column), "endColumn": str(place.end_column)}


def command(level: str, properties: dict[str, str], message: str) -> str:
    """A workflow command, with the characters escaped that have a meaning in it."""
    pairs = (f"{name}={_escaped(value, ':,')}" for name, value in properties.items())
    return f"::{level} {','.join(pairs)}::{_escaped(message)}"


def _escaped(text: str, further: str = "") -> str:
    for character in f"%\r\n{further}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text
