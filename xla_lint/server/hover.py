"""What is shown of the findings under the pointer: what was found, why it matters, and what it costs."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from lsprotocol import types

from xla_lint.server.diagnostics import overlap, range_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pygls.workspace import PositionCodec

    from xla_lint.cli.results import Located, Reason
    from xla_lint.server.messages import Checked

CONFIDENCE = {
    "HIGH": "every link of the evidence is certain",
    "CONTROL_FLOW": "another path through the code may avoid it",
    "INFERENCE": "a link of the evidence is a convention",
}


def hover(position: types.Position, checked: Checked, lines: Sequence[str], codec: PositionCodec) -> types.Hover | None:
    """What is to be shown at a position of a text with these lines, None where nothing was found there."""
    places = [(finding, range_of(finding.place, lines, codec)) for finding in checked.findings]
    here = [(finding, place) for finding, place in places if overlap(place, types.Range(position, position))]
    if not here:
        return None
    told = "\n\n---\n\n".join(_told(finding, checked) for finding, _ in here)
    smallest = max((place for _, place in here), key=lambda place: (place.start.line, place.start.character))
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, told), smallest)


def _told(finding: Located, checked: Checked) -> str:
    page = checked.pages[finding.symbol]
    link = f"[{finding.symbol}]({page.uri})" if page.uri is not None else finding.symbol
    parts = [
        f"**{link}** · {finding.severity} · {CONFIDENCE[finding.confidence]}",
        finding.message,
        "\n".join(_link(number, reason) for number, reason in enumerate(finding.evidence, start=1)),
        page.excerpt,
    ]
    return "\n\n".join(filter(None, parts))


def _link(number: int, reason: Reason) -> str:
    where = f"line {reason.place.line}" + (f" of `{PurePath(reason.path).name}`" if reason.path is not None else "")
    return f"{number}. {where}: {reason.message}"
