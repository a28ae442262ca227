"""Which line of a stack is the user's own."""

from __future__ import annotations

import functools
import os
import site
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import FrameType

TYPED_IN = frozenset({"<stdin>", "<string>", "<console>"})
"""The file names of code that came from the terminal or from `python -c`."""
CELLS = ("<ipython-input-", "<python-input-", "<timed ", "<doctest ", "<cell ")
"""How the names of cells begin, of IPython and others."""
INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
BACKPORTS = tuple(f"{folder}typing_extensions.py" for folder in INSTALLED)
"""What later releases of the standard library hold: functions that were deprecated are called through it."""
BACKENDS = tuple(f"{os.sep}{name}{os.sep}" for name in ("torch", "torch_xla"))


class Frame(NamedTuple):
    """A line in a file, and the function that holds it. Lines count from 1."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    def below(self, folder: str) -> Frame:
        """The same line, its file named by its whole path; `folder` is where the process began."""
        return self if self.file.startswith("<") else self._replace(file=_whole(self.file, folder))


class Place(NamedTuple):
    """Where something happens: the user's own line, and the line of an installed package that it had do it."""

    own: Frame | None
    """None where there was no Python frame."""
    inside: Frame | None = None
    """The innermost line outside torch; None where the user's line asked torch itself."""


NOWHERE = Place(None)


def own(frames: Iterable[Frame]) -> Frame | None:
    """The user's own line in a stack, innermost first: the first one that is neither standard library nor installed.

    Where a whole program is installed, as one run by `-m`: the innermost line of the package that began it. None where
    no frame but ours is there.
    """
    stack = [frame for frame in frames if not is_ours(frame.file)]
    for frame in stack:
        if is_own(frame.file):
            return frame
    installed = [frame for frame in stack if _is_program(frame.file)]
    if installed:
        program = _package_of(installed[-1].file)
        return next(frame for frame in installed if _package_of(frame.file) == program)
    return stack[0] if stack else None


def place_of(frames: Iterable[Frame]) -> Place:
    """The place of a stack, innermost first."""
    stack = list(frames)
    mine = own(stack)
    for frame in stack:
        if frame == mine:
            break
        if _is_program(frame.file) and not is_ours(frame.file):
            return Place(mine, frame)
    return Place(mine)


def here(depth: int = 1) -> Iterator[Frame]:
    """The frames of the caller, innermost first; `depth` counts the frames to leave out."""
    try:
        frame = sys._getframe(depth + 1)
    except ValueError:
        return
    yield from frames_of(frame)


def frames_of(innermost: FrameType) -> Iterator[Frame]:
    """A stack, innermost frame first."""
    frame: FrameType | None = innermost
    while frame is not None:
        yield Frame(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
        frame = frame.f_back


@functools.lru_cache(maxsize=4096)
def _whole(file: str, folder: str) -> str:
    return os.path.normpath(Path(folder, file))


@functools.lru_cache(maxsize=4096)
def is_own(file: str) -> bool:
    """True for a file that is neither part of the standard library nor installed."""
    if file.startswith("<"):
        return file in TYPED_IN or file.startswith(CELLS)
    return not (file.startswith(_library()) or any(part in file for part in INSTALLED))


@functools.lru_cache(maxsize=4096)
def _is_program(file: str) -> bool:
    if file.startswith("<") or file.endswith(BACKPORTS):
        return False
    installed = any(part in file for part in INSTALLED)  # in a virtual environment, below the standard library's folder
    return (installed or not file.startswith(_standard())) and not is_backend(file)


def _package_of(file: str) -> str:
    """The folder below which an installed file's package lies, and its name."""
    for part in INSTALLED:
        before, found, after = file.partition(part)
        if found:
            return before + found + after.partition(os.sep)[0]
    return str(Path(file).parent)


@functools.cache
def _standard() -> tuple[str, ...]:
    paths = {sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib")}
    return tuple(path + os.sep for path in paths)


@functools.cache
def _library() -> tuple[str, ...]:
    installed = {sysconfig.get_paths()[name] for name in ("purelib", "platlib")}
    if hasattr(site, "getsitepackages"):
        installed.update(site.getsitepackages())
    return (*_standard(), *(path + os.sep for path in installed))


def is_backend(file: str) -> bool:
    """True for a file of torch or torch_xla."""
    return any(part in file for part in BACKENDS)


def is_ours(file: str) -> bool:
    """True for a file of xla_lint, which is never the user's, however it is installed."""
    return file.startswith(_package())


def names_ours(text: str) -> bool:
    """True for a text in which a file of xla_lint occurs."""
    return _package() in text


@functools.cache
def _package() -> str:
    return str(Path(__file__).absolute().parent.parent) + os.sep
