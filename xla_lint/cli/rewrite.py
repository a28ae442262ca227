"""The replacement of a file by another version of itself: as a whole, and only if nobody else has changed it."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path


class RewriteError(Exception):
    """A file was left as it is; the text is one line for the user."""


def rewrite(path: Path, old: bytes, new: bytes) -> None:
    """Let a file that holds the old bytes hold the new ones; a link stays one, to the new version of its target.

    Raises:
        RewriteError: it holds other bytes by now, or cannot be written.
    """
    target = Path(os.path.realpath(path))
    try:
        if not os.access(target, os.W_OK):
            raise RewriteError("left alone: it is write-protected")
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
        version = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(new)
            shutil.copymode(target, version)
            if target.read_bytes() != old:
                raise RewriteError("left alone: it has changed meanwhile")
            version.replace(target)
        finally:
            version.unlink(missing_ok=True)
    except OSError as error:
        raise RewriteError(f"cannot be written: {(error.strerror or str(error)).lower()}") from error


def write_whole(path: Path, new: bytes) -> None:
    """Let a file hold these bytes, or what it held before where they cannot all be written; a link stays one.

    Raises:
        OSError: they cannot be written.
    """
    target = Path(os.path.realpath(path))
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
    version = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(new)
        if target.exists():
            shutil.copymode(target, version)
        else:
            version.chmod(0o666 & ~_umask())
        version.replace(target)
    finally:
        version.unlink(missing_ok=True)


def _umask() -> int:
    """The bits that new files are not given: there is no way to read them but to set them."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
