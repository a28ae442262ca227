"""What can be done about the findings of a text, as the edits that do it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.cli.fixing import offered, planned
from xla_lint.cli.results import Edit, Fix
from xla_lint.places import Extent
from xla_lint.program.project.source import SourceError
from xla_lint.server.messages import FixesFound

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xla_lint.cli.config import Choice
    from xla_lint.fixes.changes import Repair
    from xla_lint.server.messages import FixesWanted, Held

ALL = "Make all safe fixes of xla-lint"


def fixes_of(wanted: FixesWanted, held: Held, source: bytes, choice: Choice) -> FixesFound:
    """What can be done about findings of a text, one by one or at once; `source` is how a file would hold it."""
    try:
        offers = list(offered(str(held.path), source, choice))
        if wanted.everything:
            safe = [repair for _, repair in offers if repair.fix.safe]
            return FixesFound(wanted.request, together=_fix(ALL, safe, held.text, safe=True))
        found = [
            (finding, _fix(repair.fix.what, [repair], held.text, safe=repair.fix.safe))
            for finding, repair in offers
            if (finding.symbol, finding.place) in wanted.places
        ]
    except SourceError:
        return FixesFound(wanted.request)
    return FixesFound(wanted.request, [(finding, fix) for finding, fix in found if fix is not None])


def _fix(title: str, repairs: Iterable[Repair], text: str, *, safe: bool) -> Fix | None:
    """What makes repairs, None where the text does not allow it."""
    found = planned(repairs, text).edits
    places = (Edit(Extent(each.line, each.column, each.end_line, each.end_column), each.text) for each in found)
    return Fix(title, safe, tuple(places)) if found else None
