"""Findings as plain data, each with the place where it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.cli.results import Located, Reason
from xla_lint.pages import SEVERITIES, address
from xla_lint.places import Extent, line_at, lines_of, place_of
from xla_lint.program.project.source import absolute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from astroid import nodes

    from xla_lint.rules.base import Finding, Link


def located(finding: Finding, path: str, lines: Sequence[str], *, asked_for: bool) -> Located:
    """A finding as plain data; `asked_for` tells whether a comment switches it on."""
    place = place_of(finding.node, lines)
    return Located(
        path,
        place,
        finding.rule.code(),
        finding.rule.symbol,
        SEVERITIES[finding.rule.severity],
        finding.confidence.value,
        finding.message,
        line_at(lines, place.line),
        asked_for=asked_for,
        page=address(finding.rule),
        evidence=tuple(_reason(link, finding.node.root(), lines) for link in finding.evidence),
        repair=finding.repair,
    )


def _reason(link: Link, home: nodes.NodeNG, own: Sequence[str]) -> Reason:
    module = link.node.root()
    lines = own if module is home else lines_of(module)
    if link.line:
        text = line_at(lines, link.line)
        start = len(text) - len(text.lstrip())
        place = Extent(link.line, start + 1, link.line, len(text.rstrip()) + 1)
    else:
        place = place_of(link.node, lines)
    path = None if module is home else str(absolute(module.file or module.name))
    return Reason(path, place, link.says, line_at(lines, place.line))
