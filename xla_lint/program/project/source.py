"""One file, read and parsed outside pylint: bytes, then text, then a tree.

The tree is astroid's, but built without transforms and without inference, so that no other module is ever opened.
"""

from __future__ import annotations

import codecs
import io
import os
import stat
import tokenize
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from astroid.builder import AstroidBuilder
from astroid.exceptions import AstroidSyntaxError
from astroid.manager import AstroidManager
from astroid.raw_building import InspectBuilder

from xla_lint.program.project import overlay
from xla_lint.program.syntax.depth import TOO_DEEP, room_to_recurse
from xla_lint.program.syntax.half_typed import mended

if TYPE_CHECKING:
    from collections.abc import Collection

    from astroid import nodes

NO_DECLARATION = "invalid or missing encoding declaration"
"""What `tokenize` says of bytes that are not UTF-8 in the first two lines, where a coding line may stand."""


WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
"""How text in UTF-16 and UTF-32 begins; that of UTF-32, the other way round, begins as the first."""


class SourceError(Exception):
    """A file that cannot be read as Python source; its text is one line for the user.

    `line` is the line at fault, counted from 1, or None where there is none.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


def absolute(path: str | Path) -> Path:
    """Where a path leads from here, without dots, so that one file has one name; links stay as they are."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - `Path.absolute` keeps dots


def read(path: str | Path) -> bytes:
    """The bytes of a file, or those that stand for it.

    Raises:
        SourceError: there is no such file, it is no regular file, or it cannot be read.
    """
    held = overlay.held(absolute(path))
    if held is not None:
        return held
    try:
        mode = Path(path).stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise SourceError("is no regular file")
        return Path(path).read_bytes()
    except OSError as error:
        raise SourceError(f"cannot be read: {(error.strerror or str(error)).lower()}") from error


def decode(source: bytes) -> str:
    r"""The text of a module, every line of which ends in `\n`, decoded as Python itself decodes it.

    Raises:
        SourceError: the bytes are no text in the declared encoding, or UTF-8 where none is declared.
    """
    text, _ = decoded(source)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def decoded(source: bytes) -> tuple[str, str]:
    """The text of a module with the ends of lines that it has, and the encoding; a mark at its start is not text.

    Raises:
        SourceError: the bytes are no text in the declared encoding, or UTF-8 where none is declared.
    """
    refuse_null_bytes(source)
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
    except SyntaxError as error:
        if error.msg != NO_DECLARATION:
            raise SourceError(f"coding line: {error.msg}") from error
        encoding = "utf-8"
    try:
        return source.decode(encoding), encoding
    except UnicodeDecodeError as error:
        byte = f"byte 0x{error.object[error.start]:02x} is not {encoding}"
        advice = ", and no coding line names another encoding" if encoding == "utf-8" else ""
        raise SourceError(byte + advice, _line_of(error.object, error.start)) from error
    except (UnicodeError, LookupError) as error:
        raise SourceError(f"cannot be decoded as {encoding}: {_first_line(error)}") from error


def refuse_null_bytes(source: bytes) -> None:
    """Let no bytes pass that Python does not take for source, and in which no name can be found.

    Raises:
        SourceError: there are null bytes, as in UTF-16 and UTF-32.
    """
    if source.startswith(WIDE_MARKS):
        raise SourceError("is text in UTF-16 or UTF-32, which Python does not read; save it as UTF-8")
    if b"\0" in source:
        raise SourceError("holds a null byte, so it is no Python source", _line_of(source, source.index(b"\0")))


class HalfTypedError(SourceError):
    """A file whose text is not Python, at some of its statements at least."""


def parse_rest(text: str, path: str | Path) -> nodes.Module | None:
    """The tree of a module without the statements that do not parse; None where that does not help."""
    rest = mended(text)
    if rest is None:
        return None
    try:
        return parse(rest, path)
    except SourceError:
        return None


def parse(text: str, path: str | Path) -> nodes.Module:
    """The tree of a module; `path` says what it is called and where it lies, and is not opened.

    Raises:
        HalfTypedError: the text is not Python 3.
        SourceError: it is nested too deeply.
    """
    try:
        with room_to_recurse(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _Builder(_Manager()).string_build(text, module_name(path), str(path))
    except AstroidSyntaxError as error:
        raise _explained(error.error) from error
    except (RecursionError, MemoryError) as error:
        raise SourceError(TOO_DEEP) from error
    except UnicodeError as error:
        raise SourceError(f"cannot be encoded as UTF-8: {_first_line(error)}") from error


def module_name(path: str | Path) -> str:
    """The dotted name of the module that a file holds, as seen from the folder above its outermost package."""
    file = Path(path)
    parts = [] if file.stem == "__init__" else [file.stem]
    folder = absolute(file).parent
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts) or file.stem


class _Manager(AstroidManager):
    """A manager that keeps no tree, so that a tree is freed once its file is done."""

    def cache_module(self, module: nodes.Module) -> None:
        pass


class _Builder(AstroidBuilder):
    """A builder that leaves out what needs other modules, even the tree of `builtins`: only inference asks for it."""

    def __init__(self, manager: AstroidManager) -> None:
        InspectBuilder.__init__(self, manager)
        self._apply_transforms = False

    def delayed_assattr(self, node: nodes.AssignAttr) -> None:
        pass

    def add_from_names_to_locals(self, node: nodes.ImportFrom, global_name: Collection[str]) -> None:
        if node.names[0][0] != "*":
            super().add_from_names_to_locals(node, global_name)


def _explained(error: Exception | None) -> SourceError:
    if isinstance(error, MemoryError):
        return SourceError(TOO_DEEP)
    if isinstance(error, SyntaxError):
        return HalfTypedError(f"syntax error: {error.msg}", error.lineno or None)
    return SourceError(f"cannot be parsed: {_first_line(error)}")


def _first_line(error: object) -> str:
    return (str(error).splitlines() or [""])[0]


def _line_of(source: bytes, offset: int) -> int:
    return source.count(b"\n", 0, offset) + 1
