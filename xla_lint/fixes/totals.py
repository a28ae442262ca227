"""Totals of values that a loop reads: they are added up on the device, and read behind the loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from xla_lint.fixes.drafts import Draft

if TYPE_CHECKING:
    from xla_lint.fixes.changes import SumUp
    from xla_lint.fixes.document import Document
    from xla_lint.fixes.imports import Imports

PRIMARY = (cst.Name, cst.Attribute, cst.Subscript, cst.Call)
"""Expressions on which something can be called without brackets."""


def sum_up(document: Document, imports: Imports, change: SumUp) -> Draft | None:  # noqa: ARG001 - as drafters are called
    """Add the tensor instead of its value, and read the total in a line behind the loop."""
    read = document.find(change.read, cst.Call)
    tensor = document.find(change.tensor, cst.BaseExpression)  # type: ignore[type-abstract]
    loop = document.statement_at(change.loop.line)
    if read is None or tensor is None or not isinstance(loop, (cst.For, cst.While)):
        return None
    text = document.source(tensor)
    text = text if isinstance(tensor, PRIMARY) else f"({text})"
    draft = Draft()
    draft.replace(*document.range_of(read), text if change.counts else f"{text}.detach().float()")
    end = document.line_after(document.range_of(loop)[1])
    line = f"{document.indent(loop)}{change.total} = {'int' if change.counts else 'float'}({change.total})"
    missing = "" if document.text[:end].endswith(("\n", "\r")) else document.newline
    draft.replace(end, end, f"{missing}{line}{'' if missing else document.newline}")
    return draft
