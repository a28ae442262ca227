"""Findings as GitLab's code quality report, which is Code Climate's format.

GitLab shows it in a merge request. A finding keeps its fingerprint while other lines of the file come and go.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TextIO

from xla_lint.cli.baseline import mark_of
from xla_lint.cli.results import spot
from xla_lint.program.project.file_summary import digest_of

if TYPE_CHECKING:
    from xla_lint.cli.results import Results

LEVELS = {"error": "critical", "warning": "major", "refactor": "minor", "advice": "info"}
PROBLEM = "xla-lint"
"""What a file that could not be checked is reported as."""


def write(results: Results, stream: TextIO) -> None:
    """Write the list of findings and problems to a stream."""
    seen: Counter[object] = Counter()
    entries: list[dict[str, Any]] = []
    for finding in results.findings:
        path = PurePath(finding.path).as_posix()
        mark = mark_of(finding, path)
        place = finding.place
        where = f"{spot('', finding.cell, place.line).lstrip(':')}: " if finding.cell else ""
        begin = 1 if finding.cell else place.line
        end = 1 if finding.cell else place.end_line
        entries.append(
            {
                "description": where + finding.message,
                "check_name": finding.symbol,
                "fingerprint": digest_of(f"{mark!r} {seen[mark]}".encode(errors="surrogateescape")),
                "severity": LEVELS[finding.severity],
                "location": {"path": path, "lines": {"begin": begin, "end": end}},
            }
        )
        seen[mark] += 1
    for problem in results.problems:
        path = PurePath(problem.path).as_posix()
        entries.append(
            {
                "description": problem.message,
                "check_name": PROBLEM,
                "fingerprint": digest_of(repr((path, problem.message)).encode(errors="surrogateescape")),
                "severity": "blocker",
                "location": {"path": path, "lines": {"begin": problem.line or 1}},
            }
        )
    print(json.dumps(entries, indent=1), file=stream)
