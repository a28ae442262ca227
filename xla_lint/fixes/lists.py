"""Lists of values that a loop reads: they hold tensors meanwhile, and are read behind the loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from xla_lint.fixes.drafts import Draft
from xla_lint.fixes.expressions import PRIMARY
from xla_lint.fixes.totals import write_behind

if TYPE_CHECKING:
    from xla_lint.fixes.changes import Gather
    from xla_lint.fixes.document import Document
    from xla_lint.fixes.imports import Imports


def gather(document: Document, imports: Imports, change: Gather) -> Draft | None:  # noqa: ARG001 - as drafters are called
    """Put the tensor on the list instead of its value, and read the list in a line behind the loop."""
    read = document.find(change.read, cst.Call)
    tensor = document.find(change.tensor, cst.BaseExpression)  # type: ignore[type-abstract]
    loop = document.statement_at(change.loop.line)
    if read is None or tensor is None or not isinstance(loop, (cst.For, cst.While)):
        return None
    text = document.source(tensor)
    text = text if isinstance(tensor, PRIMARY) else f"({text})"
    draft = Draft()
    draft.replace(*document.range_of(read), text if text.endswith(".detach()") else f"{text}.detach()")
    number = f"{change.kind}(value)" if change.kind else "value.item()"
    write_behind(document, loop, f"{change.values}[:] = [{number} for value in {change.values}]", draft)
    return draft
