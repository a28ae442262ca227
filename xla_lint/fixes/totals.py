"""Totals of values that a loop reads: they are added up on the device, and read behind the loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from xla_lint.fixes.drafts import Draft
from xla_lint.fixes.expressions import PRIMARY

if TYPE_CHECKING:
    from collections.abc import Callable

    from xla_lint.fixes.changes import Gather, SumUp
    from xla_lint.fixes.document import Document
    from xla_lint.fixes.imports import Imports


def sum_up(document: Document, imports: Imports, change: SumUp) -> Draft | None:  # noqa: ARG001 - as drafters are called
    """Add the tensor instead of its value, and read the total in a line behind the loop."""
    kept = "{}" if change.counts else "{}.detach().float()"
    line = f"{change.total} = {'int' if change.counts else 'float'}({change.total})"
    return read_behind(document, change, kept.format, line)


def read_behind(document: Document, change: SumUp | Gather, kept: Callable[[str], str], line: str) -> Draft | None:
    """Draft what is kept of a tensor in place of its value, and the line behind the loop that reads all of it."""
    read = document.find(change.read, cst.Call)
    tensor = document.find(change.tensor, cst.BaseExpression)  # type: ignore[type-abstract]
    loop = document.statement_at(change.loop.line)
    if read is None or tensor is None or not isinstance(loop, (cst.For, cst.While)):
        return None
    text = document.source(tensor)
    draft = Draft()
    draft.replace(*document.range_of(read), kept(text if isinstance(tensor, PRIMARY) else f"({text})"))
    write_behind(document, loop, line, draft)
    return draft


def write_behind(document: Document, loop: cst.For | cst.While, line: str, draft: Draft) -> None:
    """Draft a line of its own behind a loop."""
    end = document.line_after(document.range_of(loop)[1])
    missing = "" if document.text[:end].endswith(("\n", "\r")) else document.newline
    draft.replace(end, end, f"{missing}{document.indent(loop)}{line}{'' if missing else document.newline}")
