"""What becomes of the imports of a text when other edits are made: some are wanted, some fall out of use."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst
from libcst.metadata import ImportAssignment

from xla_lint.fixes.drafts import Replacement

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from xla_lint.fixes.document import Block, Document
    from xla_lint.fixes.drafts import Draft, Wanted
    from xla_lint.fixes.imports import Binding, Imports, Statement


def import_edits(document: Document, imports: Imports, drafts: Sequence[Draft]) -> Iterator[Replacement]:
    """The edits of imports that some drafts call for; names that other modules may use stay."""
    replaced = [replacement for draft in drafts for replacement in draft.replacements]
    added = _added(document, [want for draft in drafts for want in draft.wanted])
    unneeded = {binding for draft in drafts for binding in draft.unneeded}
    unused: dict[Statement, list[Binding]] = {}
    for binding in imports.bindings:
        lost = not imports.is_shared(binding) and _falls_out_of_use(document, binding, replaced)
        if binding in unneeded or lost:
            unused.setdefault(binding.statement, []).append(binding)
    for statement in {**added, **unused}:
        start, end = document.range_of(statement)
        changed = any(other.meets(Replacement(start, end, "")) for other in replaced)
        gone = [] if changed else unused.get(statement, [])
        yield from _rewritten(document, imports, statement, sorted(added.get(statement, [])), gone)


def _added(document: Document, wanted: Sequence[Wanted]) -> dict[Statement, list[str]]:
    """The imports that are to stand beside others: of several in one block that are the same, the first."""
    added: dict[Statement, list[str]] = {}
    known: set[tuple[Block, str]] = set()
    for want in sorted(wanted, key=lambda want: document.range_of(want.beside)):
        key = document.block(want.beside), want.statement
        if key not in known:
            known.add(key)
            added.setdefault(want.beside, []).append(want.statement)
    return added


def _rewritten(
    document: Document, imports: Imports, statement: Statement, added: list[str], unused: list[Binding]
) -> Iterator[Replacement]:
    start, end = document.range_of(statement)
    separator = document.newline + document.indent(statement)
    goes = imports.line(statement) is not None and len(unused) == len(imports.of(statement))
    if goes and added:
        yield Replacement(start, end, separator.join(added))
        return
    if goes:
        if len(document.block(statement).body) > 1:
            yield Replacement(document.line_start(start), document.line_after(end), "")
        return
    before = [text for text in added if text < document.source(statement)]
    if before:
        yield Replacement(start, start, "".join(text + separator for text in before))
    after = added[len(before) :]
    if after:
        line_end = document.line_end(end)
        yield Replacement(line_end, line_end, "".join(separator + text for text in after))
    yield from _shortened(document, statement, {binding.alias for binding in unused})


def _shortened(document: Document, statement: Statement, unused: set[cst.ImportAlias]) -> Iterator[Replacement]:
    """The edits that take some names out of a statement, which keeps others."""
    aliases = [] if isinstance(statement.names, cst.ImportStar) else list(statement.names)
    kept = [index for index, alias in enumerate(aliases) if alias not in unused]
    if not kept or not unused:
        return
    ranges = [document.range_of(alias) for alias in aliases]
    for index, alias in enumerate(aliases[: kept[-1]]):
        if alias in unused:
            yield Replacement(ranges[index][0], ranges[index + 1][0], "")
    if kept[-1] < len(aliases) - 1:
        yield Replacement(ranges[kept[-1]][1], ranges[-1][1], "")


def _falls_out_of_use(document: Document, binding: Binding, replaced: Sequence[Replacement]) -> bool:
    """Whether a name that was used is used no more: all its uses are replaced, and by nothing that uses it."""
    scope = document.scope(binding.statement)
    if scope is None:
        return False
    found = [assignment for assignment in scope.assignments if assignment.name.partition(".")[0] == binding.name]
    if not all(isinstance(assignment, ImportAssignment) for assignment in found):
        return False
    own = (a for a in found if isinstance(a, ImportAssignment) and a.node is binding.statement)
    uses = [document.range_of(access.node) for assignment in own for access in assignment.references]
    if not uses or not all(any(r.start <= start and end <= r.end for r in replaced) for start, end in uses):
        return False
    word = re.compile(rf"(?<![\w.]){re.escape(binding.name)}\b")
    return not any(word.search(r.text) for r in replaced)
