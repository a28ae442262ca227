"""Half-typed code: the statements that do not parse are cut, and all others stay on their lines.

In place of a cut statement stands one that binds the names which it may bind to something unknown, and may do anything.
"""

from __future__ import annotations

import ast
import re
import warnings
from typing import TYPE_CHECKING

from xla_lint.program.syntax.conflicts import ours
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
HEAD = re.compile(r"\s*(?:@|(?:async|def|class|for|while|with|if|elif|else|try|except|finally|match|case)\b)")
"""The start of a statement with a body, or what will be one."""
BRACKETS = re.compile(r"""#.*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[(\[{]|[)\]}]""")
"""The brackets of a line, and what may hold others."""
LONGEST_HEAD = 12
"""How many lines the head of a statement may have."""


def mended(text: str) -> str | None:
    """A module's text without the statements that do not parse; None where that does not make it Python."""
    with room_to_recurse():
        whole = "\n".join(_mended_block(ours(text.split("\n"))))
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
    """The lines of a block, each statement as it is, or mended; one that stands too far right is cut."""
    statements = _put_back(list(_completed(list(_pieces(lines)))))
    margin = min(map(_margin, statements), key=len, default="")
    for statement in statements:
        if len(_margin(statement)) > len(margin):
            yield from _cut(statement, margin)
        else:
            yield from statement if _parses(statement) else _mended_statement(statement)


def _completed(pieces: Sequence[list[str]]) -> Iterator[list[str]]:
    """The pieces, each with the further ones that complete it."""
    at = 0
    while at < len(pieces):
        following = _end(pieces, at)
        yield [line for piece in pieces[at:following] for line in piece]
        at = following


def _end(pieces: Sequence[list[str]], at: int) -> int:
    """Where the pieces end that are a statement together: behind the first where none complete it."""
    joined = list(pieces[at])
    for following in range(at + 1, min(at + MOST_JOINED, len(pieces)) + 1):
        error = fault(_unindented(joined))
        if error is None:
            return following
        if following == len(pieces) or not any(part in (error.msg or "") for part in UNFINISHED):
            break
        joined += pieces[following]
    return at + 1


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


def _put_back(pieces: Sequence[list[str]]) -> list[list[str]]:
    """The pieces with the lines that are typed too far left, inside a body, as lines of it: these are cut."""
    found: list[list[str]] = []
    for number, piece in enumerate(pieces):
        margin, last = _margin(piece[1:]), len(found) - 1
        depth = len(margin)
        if _is_torn(piece, depth) and not _closes(piece, pieces[number + 1 : number + 2]):
            while last > 0 and _is_stray(found[last]):
                last -= 1
            if last >= 0 and _has_body(found[last], depth):
                stray = [*(line for each in found[last + 1 :] for line in each), piece[0]]
                found[last:] = [[*found[last], *(f"{margin}{opaque(line)}" for line in stray), *piece[1:]]]
                continue
        found.append(piece)
    return found


def _is_torn(piece: Sequence[str], depth: int) -> bool:
    """Whether lines of a depth follow a line that has no body."""
    return depth > _indent(piece[0]) and HEAD.match(piece[0]) is None and not _parses(piece)


def _is_stray(piece: Sequence[str]) -> bool:
    """Whether a line may be another that is typed too far left."""
    return len(piece) == 1 and HEAD.match(piece[0]) is None and not _parses(piece)


def _has_body(piece: Sequence[str], depth: int) -> bool:
    """Whether a statement has a body with lines of a depth, or is about to begin one."""
    code = [line for line in piece if line.strip(BLANKS) and not line.lstrip().startswith("#")]
    if not code or HEAD.match(code[0]) is None:
        return False
    begins = code[-1].rstrip().endswith(":") and _indent(code[-1]) < depth
    return begins or any(_indent(line) == depth for line in code)


def _closes(piece: Sequence[str], following: Sequence[Sequence[str]]) -> bool:
    """Whether a bracket that the first line of a piece opens is closed on another, or in what follows."""
    depth = _opened(piece[0])
    rest = (line for lines in (piece[1:], *following) for line in lines)
    return depth > 0 and any((depth := depth + _opened(line)) <= 0 for line in rest)


def _opened(line: str) -> int:
    """How many brackets a line opens more than it closes."""
    pieces = [match[0] for match in BRACKETS.finditer(line)]
    return sum(piece in "([{" for piece in pieces) - sum(piece in ")]}" for piece in pieces)


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


def _cut(lines: list[str], margin: str | None = None) -> list[str]:
    """What stands for lines that do not parse, behind their own margin or another."""
    first = next((number for number, line in enumerate(lines) if line.strip(BLANKS)), 0)
    text = "\n".join(lines[first:])
    margin = lines[first][: _indent(lines[first])] if margin is None else margin
    return [*lines[:first], *f"{margin}{opaque(text)}".split("\n")]


def _parses(lines: Sequence[str]) -> bool:
    return fault(_unindented(lines)) is None


def _unindented(lines: Sequence[str]) -> str:
    """Lines as a module of their own; the indents of strings do not matter here."""
    depth = len(_margin(lines))
    return "\n".join(line[min(depth, _indent(line)) :] for line in lines)


def _margin(lines: Sequence[str]) -> str:
    """What stands before the first code in some lines; nothing where there is none."""
    code = (line for line in lines if line.strip(BLANKS) and not line.lstrip().startswith("#"))
    return next((line[: _indent(line)] for line in code), "")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
