"""Quick fixes as the protocol has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from xla_lint.server.diagnostics import diagnostic, range_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pygls.workspace import TextDocument

    from xla_lint.cli.results import Fix
    from xla_lint.server.messages import Checked, FixesFound

FIX_ALL = "source.fixAll.xla-lint"
UNSAFE = " (may change results)"


def asks_for_all(only: Sequence[types.CodeActionKind | str] | None) -> bool:
    """Whether an editor asks for all fixes at once, as it may do at each save."""
    return any(kind == FIX_ALL or FIX_ALL.startswith(f"{kind}.") for kind in map(_name, only or ()))


def asks_for_quick_fixes(only: Sequence[types.CodeActionKind | str] | None) -> bool:
    """Whether an editor asks for what can be done about single findings; it does where it does not say."""
    return only is None or types.CodeActionKind.QuickFix.value in map(_name, only)


def actions(
    found: FixesFound, checked: Checked, document: TextDocument, lines: Sequence[str]
) -> list[types.CodeAction]:
    """What can be done in a document with these lines."""
    offered = [
        types.CodeAction(
            title=fix.title if fix.safe else f"{fix.title}{UNSAFE}",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[diagnostic(finding, checked, lines, document.position_codec)],
            is_preferred=fix.safe,
            edit=_edit(fix, document, lines),
        )
        for finding, fix in found.singly
    ]
    if found.together is not None:
        edit = _edit(found.together, document, lines)
        offered.append(types.CodeAction(title=found.together.title, kind=FIX_ALL, edit=edit))
    return offered


def _edit(fix: Fix, document: TextDocument, lines: Sequence[str]) -> types.WorkspaceEdit:
    """Every client knows `changes`; the version is that of the document when the editor asked."""
    edits = [types.TextEdit(range_of(edit.place, lines, document.position_codec), edit.text) for edit in fix.edits]
    return types.WorkspaceEdit(changes={document.uri: edits})


def _name(kind: types.CodeActionKind | str) -> str:
    return kind.value if isinstance(kind, types.CodeActionKind) else kind
