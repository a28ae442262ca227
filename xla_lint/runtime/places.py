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

TYPED_IN = frozenset({"<stdin>", "<string>"})
"""The file names of code that came from the terminal or from `python -c`."""
INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
BACKENDS = tuple(f"{os.sep}{name}{os.sep}" for name in ("torch", "torch_xla"))


class Frame(NamedTuple):
    """A line in a file, and the function that holds it. Lines count from 1."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def own(frames: Iterable[Frame]) -> Frame | None:
    """The user's own line in a stack, innermost first: the first one that is neither standard library nor installed.

    Where a whole program is installed, as one run by `-m`: the first one outside torch and torch_xla. None where no
    frame but ours is there.
    """
    stack = [frame for frame in frames if not is_ours(frame.file)]
    for belongs in (is_own, _is_program):
        for frame in stack:
            if belongs(frame.file):
                return frame
    return stack[0] if stack else None


def here(depth: int = 1) -> Iterator[Frame]:
    """The frames of the caller, innermost first; `depth` counts the frames to leave out."""
    try:
        frame: FrameType | None = sys._getframe(depth + 1)
    except ValueError:
        return
    while frame is not None:
        yield Frame(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
        frame = frame.f_back


@functools.lru_cache(maxsize=4096)
def is_own(file: str) -> bool:
    """True for a file that is neither part of the standard library nor installed."""
    if file.startswith("<"):
        return file in TYPED_IN
    return not (file.startswith(_library()) or any(part in file for part in INSTALLED))


@functools.lru_cache(maxsize=4096)
def _is_program(file: str) -> bool:
    if file.startswith(("<", *_standard())):
        return False
    return not is_backend(file)


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


@functools.cache
def _package() -> str:
    return str(Path(__file__).absolute().parent.parent) + os.sep
