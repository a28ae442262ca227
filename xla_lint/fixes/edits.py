"""The edits of a text that make some repairs: what an editor's quick fix and `xla-lint fix` apply."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

from xla_lint.fixes.calls import change_call
from xla_lint.fixes.changes import (
    Append,
    ChangeCall,
    Defer,
    Fill,
    Gather,
    Guard,
    ImportInstead,
    MoveAhead,
    MoveBehind,
    PassTo,
    Refer,
    Remove,
    SumUp,
    Unimport,
    Unwrap,
    Write,
)
from xla_lint.fixes.deferring import defer
from xla_lint.fixes.document import Document
from xla_lint.fixes.drafts import Draft, Replacement
from xla_lint.fixes.expressions import append, fill, pass_to
from xla_lint.fixes.import_edits import import_edits
from xla_lint.fixes.imports import Imports
from xla_lint.fixes.lists import gather
from xla_lint.fixes.moves import move_ahead, move_behind
from xla_lint.fixes.names import import_instead, refer, unimport
from xla_lint.fixes.removing import remove, unwrap
from xla_lint.fixes.totals import sum_up
from xla_lint.fixes.writing import guard, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from xla_lint.fixes.changes import Change, Repair

DRAFTERS: dict[type[Change], Callable[[Document, Imports, Any], Draft | None]] = {
    Refer: refer,
    ImportInstead: import_instead,
    ChangeCall: change_call,
    Append: append,
    PassTo: pass_to,
    Fill: fill,
    MoveBehind: move_behind,
    MoveAhead: move_ahead,
    Defer: defer,
    Write: write,
    Guard: guard,
    Remove: remove,
    Unwrap: unwrap,
    Unimport: unimport,
    SumUp: sum_up,
    Gather: gather,
}
"""What drafts each kind of change; None where the source around it does not allow it."""
NOTHING: frozenset[str] = frozenset()


class Edit(NamedTuple):
    """A stretch of a text, and what takes its place. Lines and columns count from 1, columns in characters."""

    line: int
    column: int
    end_line: int
    end_column: int
    """The first column after the stretch."""
    text: str


class Plan(NamedTuple):
    """Which of some repairs can be made together, and how."""

    made: list[Repair]
    edits: list[Edit]
    """In the order of the text; none of them meets or touches another one."""
    text: str
    """The text with the edits made."""


def edits(repairs: Iterable[Repair], text: str, taken: frozenset[str] = NOTHING) -> list[Edit]:
    """The edits that make repairs; none for those that the text does not allow or that meet earlier ones.

    Imports of names that other modules have `taken` from the text's stay, used or not.

    Raises:
        libcst.ParserSyntaxError: the text is no Python that LibCST knows.
    """
    return plan(repairs, text, taken).edits


def plan(repairs: Iterable[Repair], text: str, taken: frozenset[str] = NOTHING) -> Plan:
    """What becomes of a text by repairs; `taken` as for `edits`.

    Raises:
        libcst.ParserSyntaxError: the text is no Python that LibCST knows.
    """
    document = _document(text)
    imports = Imports(document, taken)
    made: list[Repair] = []
    drafts: list[Draft] = []
    for repair in repairs:
        draft = _draft(document, imports, repair)
        if draft is None:
            continue
        if draft not in drafts:
            if any(_meet(draft, other) for other in drafts):
                continue
            drafts.append(draft)
        made.append(repair)
    replacements = [replacement for draft in drafts for replacement in draft.replacements]
    replacements += import_edits(document, imports, drafts)
    replacements = _joined(sorted(replacements, key=lambda replacement: (replacement.start, replacement.end)))
    return Plan(made, [_edit(document, replacement) for replacement in replacements], _applied(text, replacements))


@functools.lru_cache(maxsize=1)
def _document(text: str) -> Document:
    """A text, parsed: the last one is kept, since each finding in a file asks for it."""
    return Document(text)


def _draft(document: Document, imports: Imports, repair: Repair) -> Draft | None:
    """What all changes of a repair do; None where one of them is not possible."""
    whole = Draft()
    for change in repair.changes:
        draft = DRAFTERS[type(change)](document, imports, change)
        if draft is None or _meet(draft, whole):
            return None
        whole.add(draft)
    return whole


def _meet(draft: Draft, other: Draft) -> bool:
    return any(mine.meets(yours) for mine in draft.replacements for yours in other.replacements)


def _joined(replacements: Iterable[Replacement]) -> list[Replacement]:
    """Replacements in the order of the text, one for those that touch: readers differ in which of these is first."""
    joined: list[Replacement] = []
    for each in replacements:
        if joined and joined[-1].end == each.start:
            before = joined.pop()
            joined.append(Replacement(before.start, each.end, before.text + each.text))
        else:
            joined.append(each)
    return joined


def _edit(document: Document, replacement: Replacement) -> Edit:
    return Edit(*document.position(replacement.start), *document.position(replacement.end), replacement.text)


def _applied(text: str, replacements: Sequence[Replacement]) -> str:
    parts: list[str] = []
    position = 0
    for replacement in replacements:
        parts += (text[position : replacement.start], replacement.text)
        position = replacement.end
    return "".join([*parts, text[position:]])
