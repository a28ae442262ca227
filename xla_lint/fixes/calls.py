"""Changes of calls: their arguments, and what they call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from xla_lint.fixes.changes import Call, Drop, Give
from xla_lint.fixes.changes import Name as ImportableName
from xla_lint.fixes.drafts import Draft

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xla_lint.fixes.changes import ChangeCall, Takes
    from xla_lint.fixes.document import Document
    from xla_lint.fixes.imports import Imports


def change_call(document: Document, imports: Imports, change: ChangeCall) -> Draft | None:
    """Give a call other arguments, and let it call another function."""
    call = document.find(change.at, cst.Call)
    if call is None:
        return None
    draft = Draft()
    if change.function is not None:
        spelled = imports.spell(change.function, call.func)
        if spelled is None:
            return None
        draft.write(*document.range_of(call.func), spelled)
    arguments = _Arguments(document, imports, call, draft)
    done = all(map(arguments.change, change.arguments)) and arguments.finish()
    return draft if done else None


def translate(document: Document, imports: Imports, call: cst.Call, takes: Takes, draft: Draft) -> bool:
    """Draft that a call's arguments become those of another function; False where it gives what that does not take."""
    names = [old for old, _ in takes]
    places = [arg.keyword.value if arg.keyword is not None else index for index, arg in enumerate(call.args)]
    if any(arg.star for arg in call.args):
        return False
    if any(place not in names if isinstance(place, str) else place >= len(names) for place in places):
        return False
    arguments = _Arguments(document, imports, call, draft)
    for position, (old, new) in enumerate(takes):
        if new is None:
            arguments.change(Drop(old, position))
        elif new != old:
            arguments.change(Call(old, new))
    return arguments.finish()


class _Arguments:
    """The arguments of one call, as they come to be."""

    def __init__(self, document: Document, imports: Imports, call: cst.Call, draft: Draft) -> None:
        self._document = document
        self._imports = imports
        self._call = call
        self._draft = draft
        self._new: list[str] = []
        self._dropped: set[int] = set()

    def change(self, argument: Give | Drop | Call) -> bool:
        """Draft one change; False where it cannot be made."""
        index = self._index(argument.name, argument.position)
        if isinstance(argument, Give):
            return self._give(argument, index)
        if index is None:
            return True
        if isinstance(argument, Drop):
            self._dropped.add(index)
            return True
        arg = self._call.args[index]
        if arg.keyword is not None:
            self._draft.replace(*self._document.range_of(arg.keyword), argument.to)
        else:
            start, _ = self._document.range_of(arg)
            self._draft.replace(start, start, f"{argument.to}=")
        return True

    def _give(self, argument: Give, index: int | None) -> bool:
        value = argument.value
        if isinstance(value, ImportableName):
            spelled = self._imports.spell(value, self._call.func)
            if spelled is None:
                return False
            value = spelled.text
            self._draft.wanted += [spelled.wanted] if spelled.wanted is not None else []
        if index is None:
            self._new.append(f"{argument.name}={value}")
        else:
            start, end = self._document.range_of(self._call.args[index])
            keyword = self._call.args[index].keyword
            self._draft.replace(start, end, f"{argument.name}={value}" if keyword is not None else value)
        return True

    def _index(self, name: str, position: int | None) -> int | None:
        """Which argument of the call is meant, None where it has none such."""
        for index, arg in enumerate(self._call.args):
            if arg.keyword is not None and arg.keyword.value == name:
                return index
            if index == position and arg.keyword is None and not arg.star:
                return index
        return None

    def finish(self) -> bool:
        """Draft what concerns all arguments: those that go, and new ones behind the last."""
        args = self._call.args
        kept = [arg for index, arg in enumerate(args) if index not in self._dropped]
        ranges = [self._document.range_of(arg) for arg in args]
        if args and not kept:
            self._draft.replace(ranges[0][0], _after(self._document, args[-1]), ", ".join(self._new))
            return True
        if not args:
            _, end = self._document.range_of(self._call)
            self._draft.replace(end - 1, end - 1, ", ".join(self._new))
            return True
        for index in self._dropped:
            self._drop(args, index, is_last=args.index(kept[-1]) < index)
        return self._append(kept[-1]) if self._new else True

    def _drop(self, args: Sequence[cst.Arg], index: int, *, is_last: bool) -> None:
        """Draft that an argument goes: with its line if it has one, and never with the comment of another one."""
        document = self._document
        start, end = document.range_of(args[index])
        after = _after(document, args[index])
        rest = document.text[after : document.line_end(after)].strip()
        before = document.range_of(args[index - 1])[1] if index else start
        if document.indent(args[index]) and (not rest or rest.startswith("#")):
            self._draft.replace(document.line_start(start), document.line_after(after), "")
        elif not is_last:
            self._draft.replace(start, document.range_of(args[index + 1])[0], "")
        elif "#" in document.text[before:start]:
            self._draft.replace(start, after, "")
        else:
            self._draft.replace(before, end, "")

    def _append(self, last: cst.Arg) -> bool:
        """Write the new arguments behind the last one, in the layout of the others."""
        if isinstance(last.value, cst.GeneratorExp) and not last.value.lpar:
            return False
        document = self._document
        _, end = document.range_of(last)
        indent, line_end = document.indent(last), document.line_end(end)
        own_line = bool(indent) and document.range_of(self._call)[1] > line_end
        comma = isinstance(last.comma, cst.Comma)
        after_comma = _after(document, last)
        if not own_line:
            text = "".join(f", {new}" for new in self._new)
            if comma:
                self._draft.replace(end, after_comma, f"{text},")
            else:
                self._draft.replace(end, end, text)
            return True
        if not comma:
            self._draft.replace(end, end, ",")
        lines = [f"{document.newline}{indent}{new}," for new in self._new]
        text = "".join(lines)
        self._draft.replace(line_end, line_end, text if comma else text[:-1])
        return True


def _after(document: Document, arg: cst.Arg) -> int:
    """Where the comma behind an argument ends; the end of the argument where there is none."""
    _, end = document.range_of(arg)
    if not isinstance(arg.comma, cst.Comma):
        return end
    return end + len(document.module.code_for_node(arg.comma.whitespace_before)) + 1
