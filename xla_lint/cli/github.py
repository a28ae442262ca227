"""Findings as workflow commands, which GitHub shows as annotations beside the changed lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.cli.results import spot

if TYPE_CHECKING:
    from xla_lint.cli.results import Results

LEVELS = {"error": "error", "warning": "warning", "refactor": "warning", "advice": "notice"}


def write(results: Results) -> None:
    """Write a command for each finding and for each problem to stdout.

    GitHub counts the lines of the file, which in a notebook are not those of a cell: there the message says the place.
    """
    for finding in results.findings:
        title = f"{finding.code} {finding.symbol}"
        numbers = (finding.place.line, finding.place.column)
        print(_annotation(LEVELS[finding.severity], finding.path, finding.cell, numbers, title, finding.message))
    for problem in results.problems:
        line = (problem.line,) if problem.line else ()
        print(_annotation("error", problem.path, problem.cell, line, "xla-lint", problem.message))


def _annotation(level: str, path: str, cell: int | None, numbers: tuple[int, ...], title: str, message: str) -> str:
    place = {} if cell else {key: str(number) for key, number in zip(("line", "col"), numbers, strict=False)}
    text = f"{spot('', cell, *numbers).lstrip(':')}: {message}" if cell else message
    return command(level, {"file": path, **place, "title": title}, text)


def command(level: str, properties: dict[str, str], message: str) -> str:
    """A workflow command, with the characters escaped that have a meaning in it."""
    pairs = (f"{name}={_escaped(value, ':,')}" for name, value in properties.items())
    return f"::{level} {','.join(pairs)}::{_escaped(message)}"


def _escaped(text: str, further: str = "") -> str:
    for character in f"%\r\n{further}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text
