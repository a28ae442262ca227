"""What can be done about the findings of a text, as the edits that do it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.cli.fixing import offered, taken_from
from xla_lint.cli.offering import fix_of
from xla_lint.program.project.source import SourceError
from xla_lint.server.messages import FixesFound

if TYPE_CHECKING:
    from xla_lint.cli.config import Choice
    from xla_lint.server.messages import FixesWanted, Held

ALL = "Make all safe fixes of xla-lint"


def fixes_of(wanted: FixesWanted, held: Held, source: bytes, choice: Choice) -> FixesFound:
    """What can be done about findings of a text, one by one or at once; `source` is how a file would hold it."""
    try:
        offers = list(offered(str(held.path), source, choice))
        taken = taken_from(str(held.path))
        if wanted.everything:
            safe = [repair for _, repair in offers if repair.fix.safe]
            return FixesFound(wanted.request, together=fix_of(ALL, safe, held.text, taken, safe=True))
        found = [
            (finding, fix_of(repair.fix.what, [repair], held.text, taken, safe=repair.fix.safe))
            for finding, repair in offers
            if (finding.symbol, finding.place) in wanted.places
        ]
    except SourceError:
        return FixesFound(wanted.request)
    return FixesFound(wanted.request, [(finding, fix) for finding, fix in found if fix is not None])
