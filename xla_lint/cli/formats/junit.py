"""Findings as JUnit's XML, which most CI systems show as failed tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO
from xml.etree import ElementTree as ET

from xla_lint.cli.formats.text import printable
from xla_lint.cli.results import spot

if TYPE_CHECKING:
    from xla_lint.cli.results import Results

NAME = "xla-lint"


def write(results: Results, stream: TextIO) -> None:
    """Write one test for each finding, an error for each problem, and one that passed where there is neither."""
    number = max(1, len(results.findings) + len(results.problems))
    counts = {"tests": number, "failures": len(results.findings), "errors": len(results.problems)}
    root = ET.Element("testsuites", {name: str(count) for name, count in counts.items()})
    suite = ET.SubElement(root, "testsuite", {"name": NAME, **root.attrib})
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
    ET.indent(root)
    print(ET.tostring(root, encoding="unicode", xml_declaration=True), file=stream)


def _case(suite: ET.Element, path: str, name: str) -> ET.Element:
    return ET.SubElement(suite, "testcase", {"classname": printable(path), "name": printable(name)})
