"""Half-typed code: the statements that do not parse are cut, and all others stay on their lines.

In place of a cut statement stands one that binds the names which it may bind to something unknown, and may do anything.
"""

from __future__ import annotations

import ast
import re
import warnings
from typing import TYPE_CHECKING

from xla_lint.program.syntax.depth import room_to_recurse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

UNKNOWN = "get_ipython().run()"
"""An expression of which nothing is known."""
BOUND = re.compile(
    r"\b(?:def|class|import|as|for)\s+\(?(\w+(?:\s*,\s*\w+)*)|(?<![.\w])(\w+(?:\s*,\s*\w+)*)\s*(?::\s*[\w.]+\s*)?"
    r"(?:[-+*/%&|^@]|//|\*\*|<<|>>|:)?=(?!=)"
)
"""Names that a text, which need not be Python, may bind."""
GOES_ON = re.compile(r"\s*(?:else|elif|except|finally)\b")
"""The start of a further clause of the statement above."""
UNFINISHED = ("was never closed", "unterminated triple-quoted", "unexpected EOF", "expected an indented block")
"""What Python says of a text that further lines may complete."""
MOST_JOINED = 40
"""How many further pieces are tried to complete a statement."""
BLANKS = " \t\f\r\n"
"""What Python passes over at the ends of a line; other spaces of Unicode are none to it."""
LONGEST_HEAD = 12
"""How many lines the head of a statement may have."""


def mended(text: str) -> str | None:
    """A module's text without the statements that do not parse; None where that does not make it Python."""
    with room_to_recurse():
        whole = "\n".join(_mended_block(text.split("\n")))
        return whole if fault(whole) is None else None


def names_bound(code: str) -> list[str]:
    """The names that a text may bind, in their order."""
    found = (name.strip() for match in BOUND.finditer(code) for name in (match[1] or match[2]).split(","))
    return [name for name in dict.fromkeys(found) if name.isidentifier() and fault(f"{name} = 0") is None]


def opaque(code: str) -> str:
    """What stands for a text that is no Python, on as many lines."""
    return " = ".join([*names_bound(code), UNKNOWN]) + "\n" * code.count("\n")


def fault(code: str) -> SyntaxError | None:
    """Why a text does not parse; None where it does, or fails for another reason."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(code)
    except SyntaxError as error:
        return error
    return None


def _mended_block(lines: Sequence[str]) -> Iterator[str]:
    """The lines of a block, each statement as it is, or mended."""
    pieces = list(_pieces(lines))
    at = 0
    while at < len(pieces):
        joined, following = _completed(pieces, at)
        if _parses(joined):
            yield from joined
            at = following
        else:
            yield from _mended_statement(pieces[at])
            at += 1


def _completed(pieces: Sequence[list[str]], at: int) -> tuple[list[str], int]:
    """A statement with as many further pieces as complete it, and where the next one begins."""
    joined = list(pieces[at])
    for following in range(at + 1, min(at + MOST_JOINED, len(pieces)) + 1):
        error = fault(_unindented(joined))
        if error is None:
            return joined, following
        if following == len(pieces) or not any(part in (error.msg or "") for part in UNFINISHED):
            break
        joined += pieces[following]
    return pieces[at], at + 1


def _pieces(lines: Sequence[str]) -> Iterator[list[str]]:
    """The statements of a block, told by their indents: decorators and further clauses belong to theirs."""
    piece: list[str] = []
    depth, decorates = -1, False
    for line in lines:
        code = line.strip()
        if code and not code.startswith("#"):
            indent = _indent(line)
            depth = indent if depth < 0 else depth
            if indent <= depth and piece and not decorates and not GOES_ON.match(line):
                yield piece
                piece = []
            if indent <= depth:
                decorates = code.startswith("@")
        piece.append(line)
    if piece:
        yield piece


def _mended_statement(lines: list[str]) -> list[str]:
    """A statement that does not parse: with its bodies mended where its heads are whole, else cut."""
    found: list[str] = []
    for clause in _clauses(lines):
        head = _head(clause)
        if head is None:
            return _cut(lines)
        body = clause[head:]
        if any(line.strip() for line in body):
            found += [*clause[:head], *_mended_block(body)]
        else:
            found += [*clause[: head - 1], f"{clause[head - 1]} {UNKNOWN}", *body]
    return found if _parses(found) else _cut(lines)


def _clauses(lines: Sequence[str]) -> Iterator[list[str]]:
    clause: list[str] = []
    depth = next(_indent(line) for line in lines if line.strip(BLANKS))
    for line in lines:
        if clause and GOES_ON.match(line) and _indent(line) <= depth:
            yield clause
            clause = []
        clause.append(line)
    yield clause


def _head(clause: Sequence[str]) -> int | None:
    """How many lines the head of a clause has, None where it has none, or does not parse."""
    first = next(number for number, line in enumerate(clause) if line.strip(BLANKS))
    before = "try:\n    pass\n" if re.match(r"\s*(?:except|finally)\b", clause[first]) else ""
    before = before or ("if 1:\n    pass\n" if GOES_ON.match(clause[first]) else "")
    after = "\nfinally:\n    pass" if re.match(r"\s*try\b", clause[first]) else ""
    for length in range(first + 1, min(first + LONGEST_HEAD, len(clause)) + 1):
        text = _unindented(clause[:length])
        if text.rstrip().endswith(":") and fault(f"{before}{text}\n    pass{after}") is None:
            return length
    return None


def _cut(lines: list[str]) -> list[str]:
    """What stands for lines that do not parse."""
    first = next((number for number, line in enumerate(lines) if line.strip(BLANKS)), 0)
    text = "\n".join(lines[first:])
    indent = lines[first][: _indent(lines[first])]
    return [*lines[:first], *f"{indent}{opaque(text)}".split("\n")]


def _parses(lines: Sequence[str]) -> bool:
    return fault(_unindented(lines)) is None


def _unindented(lines: Sequence[str]) -> str:
    """Lines as a module of their own; the indents of strings do not matter here."""
    depth = next((_indent(line) for line in lines if line.strip(BLANKS) and not line.lstrip().startswith("#")), 0)
    return "\n".join(line[min(depth, _indent(line)) :] for line in lines)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
