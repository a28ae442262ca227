"""Findings as workflow commands, which GitHub shows as annotations beside the changed lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xla_lint.cli.results import Results

LEVELS = {"error": "error", "warning": "warning", "refactor": "warning", "advice": "notice"}


def write(results: Results) -> None:
    """Write a command for each finding and for each problem to stdout."""
    for finding in results.findings:
        place = {"file": finding.path, "line": str(finding.place.line), "col": str(finding.place.column)}
        title = f"{finding.code} {finding.symbol}"
        print(command(LEVELS[finding.severity], {**place, "title": title}, finding.message))
    for problem in results.problems:
        place = {"file": problem.path} | ({"line": str(problem.line)} if problem.line else {})
        print(command("error", {**place, "title": "xla-lint"}, problem.message))


def command(level: str, properties: dict[str, str], message: str) -> str:
    """A workflow command, with the characters escaped that have a meaning in it."""
    pairs = (f"{name}={_escaped(value, ':,')}" for name, value in properties.items())
    return f"::{level} {','.join(pairs)}::{_escaped(message)}"


def _escaped(text: str, further: str = "") -> str:
    for character in f"%\r\n{further}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text
