"""A Jupyter notebook as one module: its code cells one after the other, and where each line stands.

What IPython alone understands becomes Python that binds the same names to something unknown, on the same lines and
columns: magics (`%matplotlib inline`, `%%bash`), shell lines (`!pip list`, `files = !ls`) and help (`tensor?`).
"""

from __future__ import annotations

import ast
import json
import re
import textwrap
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from xla_lint.cli.results import Problem
from xla_lint.places import Extent
from xla_lint.program.project.source import SourceError
from xla_lint.program.syntax.depth import TOO_DEEP, room_to_recurse
from xla_lint.program.syntax.half_typed import UNKNOWN, names_bound, opaque

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xla_lint.cli.results import Located, Reason

SUFFIX = ".ipynb"
PYTHON = "python"
PYTHON_BODIES = frozenset({"capture", "prun", "time", "timeit"})
"""The cell magics below which there is Python that runs in the notebook's own process."""
PIECE = re.compile(
    r'''\\\n|\#[^\n]*|"""(?:[^\\]|\\.)*?"""|\'\'\'(?:[^\\]|\\.)*?\'\'\'|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*\''''
    r"|[(\[{]|[)\]}]|\n",
    re.DOTALL,
)
"""What decides where a logical line ends: joined lines, comments, strings, brackets, ends of lines."""
MAGIC = re.compile(r"(?:[ \t]*(?:#.*)?\n)*[ \t]*%%(\S+).*")
"""The first line of a cell that is a magic as a whole, with what is blank before it."""
COMMAND = re.compile(r"[ \t]*(?:[%!?]|(?P<targets>[\w.,* \t]+)=[ \t]*[%!])")
"""The start of a line for IPython alone, with the targets that it is assigned to if any."""
INSTALL = re.compile(r"^[ \t]*[%!].*\bpip3?[ \t]+install\b(?:\\\n|[^\n])*", re.MULTILINE)
"""A command that installs packages, with the lines that backslashes join to it."""
HELP = re.compile(r"[ \t]*[%\w.*]+\?{1,2}[ \t]*(?:#.*)?")
TIMED = re.compile(r"(?P<indent>[ \t]*)%time (?P<statement>.+)")
JOINED = re.compile(r"(?:[^\n]*\\\n)*[^\n]*\n?")
"""A line with those that backslashes join to it."""
LINE = re.compile(r"\bline (\d+)\b(?! of [^ ]+\.py\b)")
"""What messages say of a line of the module at hand."""


class Cell(NamedTuple):
    """Where a code cell stands."""

    number: int
    """Among all cells of the notebook, text as well, from 1: as ruff counts them."""
    first: int
    """Its first line in the module, from 1."""
    indent: int = 0
    """The characters that were taken from the start of each of its lines."""

    def holds(self, place: Extent) -> Extent:
        """A place of the module as the cell counts it."""
        return Extent(
            place.line - self.first + 1,
            place.column + self.indent,
            place.end_line - self.first + 1,
            place.end_column + self.indent,
        )


@dataclass(slots=True)
class Notebook:
    """A notebook read as a module."""

    text: str = ""
    cells: list[Cell] = field(default_factory=list)
    """Its code cells in order."""
    problems: list[Problem] = field(default_factory=list)
    """The cells that are no Python: nothing is known of the names that they may bind."""
    installs: str = ""
    """The commands that install packages, a line each."""

    def cell_at(self, line: int) -> Cell:
        """The cell that holds a line of the module."""
        return next(cell for cell in reversed(self.cells) if cell.first <= line)

    def in_cell(self, finding: Located) -> Located:
        """A finding of the module, with the places in their cells; the messages name cells as well."""
        cell = self.cell_at(finding.place.line)
        return finding._replace(
            cell=cell.number,
            place=cell.holds(finding.place),
            source=" " * cell.indent + finding.source,
            message=self._in_words_of_cells(finding.message),
            evidence=tuple(map(self._reason, finding.evidence)),
            repair=None,
        )

    def _reason(self, reason: Reason) -> Reason:
        if reason.path is not None:
            return reason
        cell = self.cell_at(reason.place.line)
        return reason._replace(
            cell=cell.number,
            place=cell.holds(reason.place),
            source=" " * cell.indent + reason.source,
            message=self._in_words_of_cells(reason.message),
        )

    def _in_words_of_cells(self, message: str) -> str:
        return LINE.sub(lambda match: self._named(int(match[1])), message)

    def told_in_cell(self, problem: Problem) -> Problem:
        """A problem of the module, with the place in its cell."""
        if problem.line is None:
            return problem
        cell = self.cell_at(problem.line)
        return problem._replace(cell=cell.number, line=problem.line - cell.first + 1)

    def _named(self, line: int) -> str:
        cell = self.cell_at(line)
        return f"line {line - cell.first + 1} of cell {cell.number}"


class OtherLanguageError(Exception):
    """A notebook whose cells are in another language, which the text names."""


def read_notebook(path: str, source: bytes) -> Notebook:
    """The module that the bytes of a notebook hold; `path` says in problems what it is called.

    Raises:
        SourceError: the bytes are no notebook.
        OtherLanguageError: it is not written in Python.
    """
    notebook = Notebook()
    parts: list[str] = []
    line = 1
    for number, code in _code_cells(document_in(source)):
        text = textwrap.dedent(code) if code[:1] in (" ", "\t") else code
        cell = Cell(number, line, _indent(code) - _indent(text))
        python = "".join(translated(text))
        error = _error(python)
        if error is not None:
            message, at = error
            notebook.problems.append(Problem(path, message, at, number))
            python = opaque(text)
        notebook.installs += "".join(f"{match[0]}\n" for match in INSTALL.finditer(code))
        notebook.cells.append(cell)
        parts.append(python if text.endswith("\n") else python + "\n")
        line += parts[-1].count("\n")
    notebook.text = "".join(parts)
    return notebook


def translated(code: str) -> Iterator[str]:
    """A cell's text in pieces that make Python of it, as long as the rest of the cell is Python."""
    magic = MAGIC.match(code)
    if magic is not None:
        if magic[1] not in PYTHON_BODIES:
            yield "\n" * code.count("\n")
            return
        yield "\n" * magic[0].count("\n")
        code = code[magic.end() :]
    position = 0
    while position < len(code):
        joined = JOINED.match(code, position)
        assert joined is not None
        command = COMMAND.match(code, position)
        if command is not None:
            yield _command(joined[0], command["targets"])
            position = joined.end()
            continue
        end = _end_of_statement(code, position)
        statement = code[position:end]
        if HELP.fullmatch(statement.rstrip("\n")):
            statement = _kept(statement, f"{_margin(statement)}pass")
        yield statement
        position = end


def document_in(source: bytes) -> dict[str, Any]:
    """What the bytes of a notebook hold, its cells not yet looked at; those of a format before 4 lie in worksheets.

    Raises:
        SourceError: they are no notebook.
        OtherLanguageError: it is not written in Python.
    """
    try:
        document = json.loads(source.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise SourceError(f"is no notebook: byte 0x{error.object[error.start]:02x} is not utf-8") from error
    except json.JSONDecodeError as error:
        raise SourceError(f"is no notebook: not valid JSON: {error.msg}", error.lineno) from error
    except RecursionError as error:
        raise SourceError("is no notebook: nested too deeply") from error
    if not isinstance(document, dict):
        raise SourceError("is no notebook: not a JSON object")
    if isinstance(document.get("worksheets"), list):
        sheets = (sheet.get("cells") for sheet in document["worksheets"] if isinstance(sheet, dict))
        document["cells"] = [cell for cells in sheets if isinstance(cells, list) for cell in cells]
    if not isinstance(document.get("cells"), list):
        raise SourceError("is no notebook: it holds no list of cells")
    language = _language(document.get("metadata"))
    if language.lower() not in ("", PYTHON, "ipython"):
        raise OtherLanguageError(language)
    return document


def _language(metadata: Any) -> str:
    """The language of a notebook's kernel, empty where it is not told."""
    for part, key in (("language_info", "name"), ("kernelspec", "language")):
        table = metadata.get(part) if isinstance(metadata, dict) else None
        name = table.get(key) if isinstance(table, dict) else None
        if isinstance(name, str) and name:
            return name
    return ""


def _code_cells(document: dict[str, Any]) -> Iterator[tuple[int, str]]:
    for number, cell in enumerate(document["cells"], start=1):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code" or cell.get("language", PYTHON) != PYTHON:
            continue
        source = cell.get("source", cell.get("input", ""))
        if isinstance(source, list):
            source = "".join(line for line in source if isinstance(line, str))
        if isinstance(source, str):
            yield number, source.replace("\r\n", "\n").replace("\r", "\n")


def _command(joined: str, targets: str | None) -> str:
    """What stands for a line that IPython runs: what it assigns to is bound, to something unknown."""
    timed = TIMED.match(joined)
    if timed is not None and _is_simple(timed["statement"]):
        return joined.replace("%time", "if 1:", 1)
    if targets is None:
        names = names_bound(joined) if "%" in joined[: len(_margin(joined)) + 1] else []
        return _kept(joined, _margin(joined) + (" = ".join([*names, UNKNOWN]) if names else "pass"))
    return _kept(joined, f"{targets}= {UNKNOWN}")


def _is_simple(statement: str) -> bool:
    try:
        body = ast.parse(statement.strip()).body
    except (SyntaxError, ValueError):
        return False
    return len(body) == 1 and not hasattr(body[0], "body")


def _kept(original: str, replacement: str) -> str:
    """The replacement, with as many ends of lines as what it stands for."""
    return replacement + "\n" * original.count("\n")


def _end_of_statement(code: str, position: int) -> int:
    """Where the logical line that begins at a position ends."""
    depth = 0
    for piece in PIECE.finditer(code, position):
        if piece[0] == "\n" and depth <= 0:
            return piece.end()
        depth += (piece[0] in "([{") - (piece[0] in ")]}")
    return len(code)


def _error(code: str) -> tuple[str, int | None] | None:
    """Why a text is no Python, and on which of its lines; None for Python."""
    try:
        with room_to_recurse(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(code)
    except SyntaxError as error:
        return f"syntax error: {error.msg}", error.lineno or None
    except ValueError as error:
        return f"cannot be parsed: {error}", None
    except (RecursionError, MemoryError):
        return TOO_DEEP, None
    return None


def _margin(line: str) -> str:
    return line[: _indent(line)]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
