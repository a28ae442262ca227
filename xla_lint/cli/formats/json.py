"""Findings for programs.

One JSON object:

| key | value |
|---|---|
| `version` | 1; it changes only if a key changes its meaning or goes |
| `findings` | a list, by file and line, of objects with the keys below |
| `problems` | what could not be checked: objects with `path`, `line`, `cell` (each a number or null) and `message` |
| `files` | what was looked at: an object with the keys below |

`files` has the number `checked` and, among these, `outside_scope`; `accelerate_only` and `sagemaker_only`, the numbers
of those that were checked by the rules for Accelerate or SageMaker alone; and `training_outside_scope`, a list of the
paths of files with training code to which most rules were not applied.

A finding has `path`, `line`, `column`, `end_line`, `end_column` (all from 1, columns in characters, the end column is
the first after), `code`, `symbol`, `severity` (error, warning, refactor, advice), `confidence` (HIGH, CONTROL_FLOW,
INFERENCE), `message`, `page`, which says where the rule is explained, and `cell`: null, or in a notebook the number of
the cell that the lines are counted in, from 1, text cells counted too. Its `evidence` is a list of places with what is
known of them, each with `path`, `message`, `cell` and the lines and columns; `fixes` is a list of changes that end it,
each with `title`, `safe`, and `edits` of the finding's file: lines, columns and the new `text`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TextIO

from xla_lint.cli.results import shown

if TYPE_CHECKING:
    from xla_lint.cli.results import Located, Reason, Results

VERSION = 1
KINDS = ("Accelerate", "SageMaker")
"""The kinds of programs with rules of their own, as outcomes name them."""


def write(results: Results, stream: TextIO) -> None:
    """Write the object to a stream."""
    document = {
        "version": VERSION,
        "findings": [_finding(finding) for finding in results.findings],
        "problems": [problem._asdict() for problem in results.problems],
        "files": {
            "checked": results.checked,
            "outside_scope": results.outside,
            **{f"{name.lower()}_only": results.only[name] for name in KINDS},
            "training_outside_scope": results.unchecked,
        },
    }
    print(json.dumps(document, indent=2), file=stream)


def _finding(finding: Located) -> dict[str, Any]:
    return {
        "path": finding.path,
        **finding.place._asdict(),
        "code": finding.code,
        "symbol": finding.symbol,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "message": finding.message,
        "cell": finding.cell,
        "page": finding.page,
        "evidence": [_reason(finding, reason) for reason in finding.evidence],
        "fixes": [
            {
                "title": fix.title,
                "safe": fix.safe,
                "edits": [{**edit.place._asdict(), "text": edit.text} for edit in fix.edits],
            }
            for fix in finding.fixes
        ],
    }


def _reason(finding: Located, reason: Reason) -> dict[str, Any]:
    return {
        "path": shown(reason.path, finding.path),
        **reason.place._asdict(),
        "message": reason.message,
        "cell": reason.cell,
    }
