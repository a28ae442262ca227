"""Findings as SARIF 2.1.0, which GitHub's code scanning, Azure DevOps and editors read.

The evidence of a finding is a code flow; its rule's page goes along. In a notebook lines are those of a cell, of which
SARIF knows nothing: there the message says the place.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TextIO
from urllib.parse import quote

from xla_lint import __version__
from xla_lint.cli.baseline import mark_of
from xla_lint.cli.results import shown, spot
from xla_lint.pages import SEVERITIES, address, family
from xla_lint.program.project.file_summary import digest_of
from xla_lint.rules import rule_named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xla_lint.cli.results import Fix, Located, Problem, Results
    from xla_lint.places import Extent
    from xla_lint.rules.base import Rule

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {"error": "error", "warning": "warning", "refactor": "warning", "advice": "note"}
ROOT = "%SRCROOT%"
"""What relative paths are relative to: the folder in which the command was started."""
FINGERPRINT = "xlaLint/v1"


def write(results: Results, stream: TextIO) -> None:
    """Write the log to a stream."""
    symbols = sorted({finding.symbol for finding in results.findings})
    seen: Counter[object] = Counter()
    run = {
        "tool": {
            "driver": {
                "name": "xla-lint",
                "semanticVersion": __version__,
                "rules": [_rule(rule_named(symbol)) for symbol in symbols],
            }
        },
        "invocations": [
            {
                "executionSuccessful": not results.problems,
                "toolExecutionNotifications": [_notification(problem) for problem in results.problems],
            }
        ],
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, symbols, seen) for finding in results.findings],
    }
    print(json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1), file=stream)


def _rule(rule: type[Rule]) -> dict[str, Any]:
    page = rule.page()
    return {
        "id": rule.symbol,
        "name": rule.__name__,
        "shortDescription": {"text": page.splitlines()[0]},
        "help": {"text": f"'{address(rule)}' prints the whole page.", "markdown": page},
        "defaultConfiguration": {"level": LEVELS[SEVERITIES[rule.severity]]},
        "properties": {"tags": [family(rule)], "code": rule.code()},
    }


def _result(finding: Located, symbols: list[str], seen: Counter[object]) -> dict[str, Any]:
    mark = mark_of(finding, PurePath(finding.path).as_posix())
    fingerprint = digest_of(f"{mark!r} {seen[mark]}".encode(errors="surrogateescape"))
    seen[mark] += 1
    result = {
        "ruleId": finding.symbol,
        "ruleIndex": symbols.index(finding.symbol),
        "level": LEVELS[finding.severity],
        "message": {"text": _text(finding.cell, finding.place, finding.message)},
        "locations": [_location(finding.path, finding.cell, finding.place, finding.source)],
        "partialFingerprints": {FINGERPRINT: fingerprint},
        "properties": {"confidence": finding.confidence},
    }
    if finding.evidence:
        result["codeFlows"] = [{"threadFlows": [{"locations": list(_flow(finding))}]}]
    if finding.fixes and finding.cell is None:
        result["fixes"] = [_fix(finding.path, fix) for fix in finding.fixes]
    return result


def _flow(finding: Located) -> Iterable[dict[str, Any]]:
    """The evidence, and the finding at the end."""
    for reason in finding.evidence:
        where = _location(shown(reason.path, finding.path), reason.cell, reason.place, reason.source)
        yield {"location": {**where, "message": {"text": _text(reason.cell, reason.place, reason.message)}}}
    where = _location(finding.path, finding.cell, finding.place, finding.source)
    yield {"location": {**where, "message": {"text": finding.message}}, "importance": "essential"}


def _fix(path: str, fix: Fix) -> dict[str, Any]:
    edits = [{"deletedRegion": _region(edit.place), "insertedContent": {"text": edit.text}} for edit in fix.edits]
    title = fix.title if fix.safe else f"{fix.title} (may change results)"
    return {
        "description": {"text": title},
        "artifactChanges": [{"artifactLocation": _artifact(path), "replacements": edits}],
    }


def _notification(problem: Problem) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": _artifact(problem.path)}
    if problem.line and problem.cell is None:
        place["region"] = {"startLine": problem.line}
    where = f"{spot('', problem.cell, problem.line).lstrip(':')}: " if problem.cell else ""
    return {
        "level": "error",
        "message": {"text": where + problem.message},
        "locations": [{"physicalLocation": place}],
    }


def _location(path: str, cell: int | None, place: Extent, source: str) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": _artifact(path)}
    if cell is None:
        physical["region"] = {**_region(place), "snippet": {"text": source}}
    return {"physicalLocation": physical}


def _region(place: Extent) -> dict[str, int]:
    return {
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column,
    }


def _artifact(path: str) -> dict[str, str]:
    if os.path.isabs(path):  # noqa: PTH117
        return {"uri": Path(path).as_uri()}
    return {"uri": quote(os.fsencode(PurePath(os.path.normpath(path)).as_posix())), "uriBaseId": ROOT}


def _text(cell: int | None, place: Extent, message: str) -> str:
    return f"{spot('', cell, place.line, place.column).lstrip(':')}: {message}" if cell else message
