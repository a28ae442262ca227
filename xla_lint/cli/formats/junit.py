"""Findings and limits of a run as JUnit's XML, which most CI systems show as tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO
from xml.etree import ElementTree as ET

from xla_lint.cli.formats.text import printable
from xla_lint.cli.results import spot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xla_lint.cli.results import Results
    from xla_lint.runtime.gate import Check
    from xla_lint.runtime.summary import Summary

NAME = "xla-lint"


def write(results: Results, stream: TextIO) -> None:
    """Write one test for each finding, an error for each problem, and one that passed where there is neither."""
    number = max(1, len(results.findings) + len(results.problems))
    root, suite = _suite(NAME, number, len(results.findings), len(results.problems))
    for finding in results.findings:
        place = spot("", finding.cell, finding.place.line, finding.place.column).lstrip(":")
        case = _case(suite, finding.path, f"{finding.symbol} {place}")
        details = {"type": f"{finding.severity} {finding.code}", "message": printable(finding.message)}
        failure = ET.SubElement(case, "failure", details)
        failure.text = printable(f"{spot(finding.path, finding.cell, finding.place.line)}: {finding.source.strip()}")
    for problem in results.problems:
        case = _case(suite, problem.path, spot("problem", problem.cell, problem.line))
        ET.SubElement(case, "error", {"type": "problem", "message": printable(problem.message)})
    if not (results.findings or results.problems):
        _case(suite, NAME, f"{results.checked} files checked")
    print(_text(root), file=stream)


def of_run(summary: Summary, checks: Sequence[Check]) -> str:
    """One test for each limit, and one for the program itself, which fails where it did not end well."""
    failed = sum(bool(check.broken) for check in checks) + (not summary.well)
    root, suite = _suite(f"{NAME} run", len(checks) + 1 + len(summary.problems), failed, len(summary.problems))
    case = _case(suite, summary.command, "the program")
    if not summary.well:
        ET.SubElement(case, "failure", {"type": "program", "message": f"the program {summary.ended}"})
    for check in checks:
        case = _case(suite, summary.command, check.name)
        if check.broken:
            words = printable("; ".join(check.broken))
            ET.SubElement(case, "failure", {"type": "limit", "message": words}).text = words
    for problem in summary.problems:
        case = _case(suite, summary.command, "the recording")
        ET.SubElement(case, "error", {"type": "problem", "message": printable(problem)})
    return _text(root) + "\n"


def _suite(name: str, tests: int, failures: int, errors: int) -> tuple[ET.Element, ET.Element]:
    counts = {"tests": tests, "failures": failures, "errors": errors}
    root = ET.Element("testsuites", {key: str(count) for key, count in counts.items()})
    return root, ET.SubElement(root, "testsuite", {"name": name, **root.attrib})


def _text(root: ET.Element) -> str:
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True)


def _case(suite: ET.Element, path: str, name: str) -> ET.Element:
    return ET.SubElement(suite, "testcase", {"classname": printable(path), "name": printable(name)})
