"""Ends from outside: a request to terminate, a reader that goes away, a full disk.

What is said on standard error is said to whoever reads it: where nobody can, it changes neither result nor status.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from xla_lint.cli.usage import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType
    from typing import TextIO


class Terminated(BaseException):
    """The process was asked to end, as `timeout`, CI runners and editors do."""


@contextmanager
def terminable() -> Iterator[None]:
    """Raise `Terminated` where the process is asked to end meanwhile, so that what is begun can be put away."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminate(_number: int, _frame: FrameType | None) -> None:
    raise Terminated


@contextmanager
def writing() -> Iterator[None]:
    """Tell in one line where standard output cannot be written.

    Raises:
        UsageError: it cannot, and nobody has closed it.
    """
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        discard_output()
        raise UsageError(f"standard output cannot be written: {(error.strerror or str(error)).lower()}") from error


def discard_output() -> None:
    """Let what is still to be written go nowhere: the interpreter flushes once more when it ends."""
    _discard(sys.stdout)


def say(line: str) -> None:
    """Write a line to standard error, if it can be written."""
    with speaking() as stream:
        print(line, file=stream)


@contextmanager
def speaking() -> Iterator[TextIO]:
    """Lend standard error; where it is closed or cannot be written, the rest goes nowhere.

    Without that the interpreter would find the rest in its buffer when it ends, and end with a status of its own, 120.
    """
    stream = io.StringIO() if sys.stderr is None else sys.stderr
    try:
        yield stream
        stream.flush()
    except OSError:
        _discard(stream)


def _discard(stream: TextIO) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
