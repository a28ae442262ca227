"""What `xla-lint run` starts: a script or a module with this interpreter, or a command that starts Python itself."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

HEAD = 128
"""The bytes of a file that tell what runs it."""


def command_of(arguments: Sequence[str]) -> list[str]:
    """The command line for what the user names: a file or an option is Python's, as after `python`.

    Another word is a command, such as `python` or `torchrun`. Those beside this interpreter come first, so that
    an environment need not be activated. A file that the system runs without Python is left to it.
    """
    word = arguments[0]
    if Path(word).exists() and not word.startswith("-"):
        return [str(Path(word).absolute()), *arguments[1:]] if _runs_itself(word) else [sys.executable, *arguments]
    found = None if word.startswith("-") else _found(word)
    return [found, *arguments[1:]] if found else [sys.executable, *arguments]


def _found(word: str) -> str | None:
    return shutil.which(word, path=str(Path(sys.executable).parent)) or shutil.which(word)


def _runs_itself(word: str) -> bool:
    if not Path(word).is_file() or not os.access(word, os.X_OK):
        return False
    with Path(word).open("rb") as file:
        head = file.read(HEAD).partition(b"\n")[0]
    return head.startswith(b"\x7fELF") or (head.startswith(b"#!") and b"python" not in head)
