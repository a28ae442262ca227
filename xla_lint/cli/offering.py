"""The edits of files that end findings, for the formats that carry them and for editors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.cli.fixing import planned, taken_from
from xla_lint.cli.results import Edit, Fix
from xla_lint.places import Extent
from xla_lint.program.project.source import SourceError, decoded, read

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from xla_lint.cli.results import Located
    from xla_lint.fixes.changes import Repair


def with_fixes(findings: Sequence[Located]) -> list[Located]:
    """Findings with the fixes of each, worked out alone; none where its file does not allow it."""
    wanted: dict[str, set[Repair]] = {}
    for finding in findings:
        if finding.repair is not None:
            wanted.setdefault(finding.path, set()).add(finding.repair)
    found = {path: _fixes(path, repairs) for path, repairs in wanted.items()}
    return [
        finding if finding.repair is None else finding._replace(fixes=found[finding.path].get(finding.repair, ()))
        for finding in findings
    ]


def fix_of(title: str, repairs: Iterable[Repair], text: str, taken: frozenset[str], *, safe: bool) -> Fix | None:
    """What makes repairs, None where the text does not allow it; imports of what is `taken` by other files stay.

    Raises:
        SourceError: the text is no Python, or would be none afterwards.
    """
    edits = planned(repairs, text, taken).edits
    places = (Edit(Extent(each.line, each.column, each.end_line, each.end_column), each.text) for each in edits)
    return Fix(title, safe, tuple(places)) if edits else None


def _fixes(path: str, repairs: Iterable[Repair]) -> dict[Repair, tuple[Fix, ...]]:
    """The fixes of one file, by what they repair."""
    try:
        text, _ = decoded(read(path))
        taken = taken_from(path)
        found = {each: fix_of(each.fix.what, [each], text, taken, safe=each.fix.safe) for each in repairs}
    except SourceError:
        return {}
    return {repair: (fix,) for repair, fix in found.items() if fix is not None}
