"""Findings as the protocol has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.uris import from_fs_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pygls.workspace import PositionCodec

    from xla_lint.cli.results import Located, Reason
    from xla_lint.places import Extent
    from xla_lint.server.messages import Checked

SOURCE = "xla-lint"
SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "refactor": types.DiagnosticSeverity.Information,
    "advice": types.DiagnosticSeverity.Hint,
}


def lines_of(text: str) -> list[str]:
    """The lines of a text as the protocol and Python count them: other separators than these end none."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def diagnostics(checked: Checked, lines: Sequence[str], codec: PositionCodec) -> list[types.Diagnostic]:
    """What was found in a text with these lines."""
    return [diagnostic(finding, checked, lines, codec) for finding in checked.findings]


def diagnostic(finding: Located, checked: Checked, lines: Sequence[str], codec: PositionCodec) -> types.Diagnostic:
    """One finding of a check, in a text with these lines."""
    uri = checked.pages[finding.symbol].uri
    return types.Diagnostic(
        range=range_of(finding.place, lines, codec),
        message=finding.message,
        severity=SEVERITIES[finding.severity],
        code=finding.symbol,
        code_description=types.CodeDescription(uri) if uri is not None else None,
        source=SOURCE,
        related_information=[_related(reason, finding.path, lines, codec) for reason in finding.evidence],
    )


def _related(
    reason: Reason, path: str, lines: Sequence[str], codec: PositionCodec
) -> types.DiagnosticRelatedInformation:
    """A link of the evidence; of a line in another file no more is known than its number."""
    if reason.path is None:
        place = range_of(reason.place, lines, codec)
    else:
        place = types.Range(types.Position(reason.place.line - 1, 0), types.Position(reason.place.line, 0))
    uri = from_fs_path(reason.path or path) or ""
    return types.DiagnosticRelatedInformation(types.Location(uri, place), reason.message)


def overlap(one: types.Range, other: types.Range) -> bool:
    """Whether two ranges meet; one that is empty, such as where a cursor stands, meets what it is in or beside."""
    (start, end), (first, last) = (
        [(each.line, each.character) for each in (place.start, place.end)] for place in (one, other)
    )
    return start <= last and first <= end


def range_of(place: Extent, lines: Sequence[str], codec: PositionCodec) -> types.Range:
    """An extent in the units that the client counts in."""
    start = types.Position(place.line - 1, place.column - 1)
    end = types.Position(place.end_line - 1, place.end_column - 1)
    return codec.range_to_client_units(lines, types.Range(start, end))
