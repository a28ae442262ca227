"""Lists of values that a loop reads: they hold tensors meanwhile, and are read behind the loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xla_lint.fixes.totals import read_behind

if TYPE_CHECKING:
    from xla_lint.fixes.changes import Gather
    from xla_lint.fixes.document import Document
    from xla_lint.fixes.drafts import Draft
    from xla_lint.fixes.imports import Imports


def gather(document: Document, imports: Imports, change: Gather) -> Draft | None:  # noqa: ARG001 - as drafters are called
    """Put the tensor on the list instead of its value, and read the list in a line behind the loop."""
    number = f"{change.kind}(value)" if change.kind else "value.item()"
    line = f"{change.values}[:] = [{number} for value in {change.values}]"
    return read_behind(document, change, lambda text: f"{text.removesuffix('.detach()')}.detach()", line)
